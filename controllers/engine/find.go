package engine

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Find reads an object and reports whether it exists. An error never means that it does not.
func Find(ctx context.Context, from client.Reader, key client.ObjectKey, obj client.Object) (bool, error) {
	err := from.Get(ctx, key, obj)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the %s %s: %w", reflect.TypeOf(obj).Elem().Name(), key.Name, err)
	}
	return true, nil
}
