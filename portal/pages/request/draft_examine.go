package request

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
)

// examine makes dry runs of the draft and returns all its errors. Without errors there is a result; a returned error is
// about none of the draft's fields.
func (p *Pages) examine(ctx context.Context, f formRequest, d form.Draft) (write.Result, catalog.FieldErrors, error) {
	var result write.Result
	wrong, err := d.Examine(func(obj *unstructured.Unstructured) error {
		var err error
		result, err = p.send(ctx, f, obj, true)
		return err
	})
	if err != nil || len(wrong) == 0 {
		return result, nil, err
	}
	wrong, err = p.addKnown(ctx, f, d, wrong)
	return write.Result{}, wrong, err
}

// addKnown adds errors that no validation finds: a taken name, and a hostname that can never be available.
func (p *Pages) addKnown(ctx context.Context, f formRequest, d form.Draft, wrong catalog.FieldErrors) (
	catalog.FieldErrors, error,
) {
	if f.edit == nil && d.Object.GetName() != "" && !about(wrong, form.NameField) {
		_, err := p.Cluster.Objects.Get(ctx, f.id, f.ref(d.Object.GetName()))
		switch {
		case err == nil:
			wrong = append(wrong, d.Taken())
		case !page.Unseen(err) && !apierrors.IsNotFound(err):
			return wrong, err
		}
	}
	if about(wrong, form.HostnameField) {
		return wrong, nil
	}
	more, _, err := p.judged(ctx, f, d.Object)
	return append(wrong, more...), err
}

func about(errs catalog.FieldErrors, field string) bool {
	return slices.ContainsFunc(errs, func(e catalog.FieldError) bool { return e.Field == field })
}

// send writes the object, or with dryRun makes a dry run.
func (p *Pages) send(ctx context.Context, f formRequest, obj *unstructured.Unstructured, dryRun bool) (
	write.Result, error,
) {
	if f.edit != nil {
		return p.Cluster.Write.Edit(ctx, f.id, f.kind, write.Began{ETag: f.edit.ETag, Object: f.edit.Object}, obj,
			dryRun)
	}
	return p.Cluster.Write.Create(ctx, f.id, f.kind, obj, dryRun)
}
