package team

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func grantOf(namespace string) *v1alpha1.HostnameGrant {
	return &v1alpha1.HostnameGrant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.HostnameGrantName},
	}
}

// grant is the apply configuration of a HostnameGrant: only the fields that the Team owns.
type grant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec v1alpha1.HostnameGrantSpec `json:"spec"`
}

// hostnames applies a HostnameGrant in each namespace, or deletes it if the team has no hostnames.
func (p *pass) hostnames(ctx context.Context) (string, error) {
	spec := p.team.Spec.Hostnames
	err := p.each(ctx, func(ctx context.Context, namespace string) error {
		if spec == nil {
			return p.objects.Delete(ctx, grantOf(namespace))
		}
		want := grant{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindHostnameGrant},
			ObjectMeta: grantOf(namespace).ObjectMeta, Spec: *spec,
		}
		return p.objects.Apply(ctx, want, &v1alpha1.HostnameGrant{})
	})
	if spec == nil {
		return "", err
	}
	return fmt.Sprintf("names under %s %s", strings.Join(spec.Suffixes, ", "), p.in()), err
}
