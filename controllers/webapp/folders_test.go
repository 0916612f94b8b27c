package webapp

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// folderOf returns the projection of bindings with files.
func folderOf(t *testing.T, bindings ...v1alpha1.WebAppBinding) (projection, error) {
	t.Helper()
	var given projection
	for _, b := range bindings {
		if err := given.add(b, &v1alpha1.Binding{
			Name: b.Name + "-binding", Keys: []string{"type", "url"},
			ResourceVersion: "7",
		}); err != nil {
			return given, err
		}
	}
	return given, nil
}

func TestDetailsAsFiles(t *testing.T) {
	files := func(kind string, f v1alpha1.WebAppBindingFiles) v1alpha1.WebAppBinding {
		return v1alpha1.WebAppBinding{Kind: kind, Name: "orders", Files: &f}
	}
	given, err := folderOf(t, files("SQSQueue", v1alpha1.WebAppBindingFiles{}),
		files("S3Bucket", v1alpha1.WebAppBindingFiles{Folder: "files", OnChange: v1alpha1.OnChangeReload}))
	if err != nil || len(given.variables) != 0 || len(given.folders) != 2 {
		t.Fatalf("%+v, %v", given, err)
	}
	for i, want := range []folder{
		{name: "orders", secret: "orders-binding", version: "7"},
		{name: "files", secret: "orders-binding", version: "7", reload: true},
	} {
		got := given.folders[i]
		if got.of = (v1alpha1.WebAppBinding{}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	_, err = folderOf(t, files("SQSQueue", v1alpha1.WebAppBindingFiles{}),
		files("S3Bucket", v1alpha1.WebAppBindingFiles{}))
	if err == nil || err.Error() != "the bindings to SQSQueue orders and S3Bucket orders both give the folder "+
		"orders; give one of them another folder" {
		t.Error(err)
	}
	r := &reconciliation{app: sample(t), given: given}
	got := r.bound()
	if len(got) != 2 {
		t.Fatalf("in use: %+v, want two", got)
	}
	if b := got[1]; b.Kind != "S3Bucket" || b.ResourceVersion != "7" || b.Folder != "/bindings/files" {
		t.Errorf("in use: %s of version %s in %s, want S3Bucket of 7 in /bindings/files", b.Kind, b.ResourceVersion,
			b.Folder)
	}
}

// Pods are replaced for values that they read at their start, and not for files that they read again.
func TestPodsThatReadAgainStay(t *testing.T) {
	of := func(version string, reload bool) string {
		return projection{folders: []folder{{name: "orders", secret: "s", version: version, reload: reload}}}.checksum()
	}
	if of("1", true) != "" || of("2", true) != "" {
		t.Errorf("checksums of what is read again = %q, %q, want none", of("1", true), of("2", true))
	}
	if first, second := of("1", false), of("2", false); first == second || first == "" {
		t.Errorf("checksums = %q, %q, want two that differ", first, second)
	}
}

func TestFoldersAreMountedBelowTheRoot(t *testing.T) {
	for name, row := range map[string]struct {
		env         []v1alpha1.WebAppEnv
		root, value string
	}{
		"by default":          {nil, "/bindings", "/bindings"},
		"where the spec says": {[]v1alpha1.WebAppEnv{{Name: rootVariable, Value: "/etc/bound/"}}, "/etc/bound", "/etc/bound/"},
	} {
		app := sample(t)
		app.Spec.Env = row.env
		pod := podOfApp(t, app, projection{
			folders: []folder{{name: "orders", secret: "orders-binding"}, {name: "a.b", secret: "files-binding"}},
		})
		var mounts, roots []string
		for _, m := range pod.Containers[0].VolumeMounts[1:] {
			mounts = append(mounts, m.MountPath)
			v := volumeOf(pod, m.Name)
			if v == nil || v.Secret == nil || len(v.Secret.Items) > 0 {
				t.Errorf("%s: volume of %s = %+v, want a whole Secret", name, m.Name, v)
			}
			if !m.ReadOnly || len(m.Name) > 63 || strings.ContainsAny(m.Name, "._") {
				t.Errorf("%s: mount %+v, want it read-only, with the name of a volume", name, m)
			}
		}
		for _, e := range pod.Containers[0].Env {
			if e.Name == rootVariable {
				roots = append(roots, e.Value)
			}
		}
		if strings.Join(mounts, " ") != row.root+"/orders "+row.root+"/a.b" || len(roots) != 1 ||
			roots[0] != row.value {
			t.Errorf("%s: mounts %v, %s %v", name, mounts, rootVariable, roots)
		}
	}
	if pod := podOfApp(t, sample(t), fromOrders); len(pod.Volumes) != 1 {
		t.Errorf("volumes %+v without files", pod.Volumes)
	}
}

func volumeOf(pod corev1.PodSpec, name string) *corev1.Volume {
	for i := range pod.Volumes {
		if pod.Volumes[i].Name == name {
			return &pod.Volumes[i]
		}
	}
	return nil
}

// The files would be in another place than where the application reads them, or nowhere.
func TestARootThatIsNoneIsRefused(t *testing.T) {
	orders := []folder{{name: "orders", secret: "s", of: v1alpha1.WebAppBinding{Kind: "SQSQueue", Name: "orders"}}}
	for name, row := range map[string]struct {
		env     v1alpha1.WebAppEnv
		folders []folder
		says    string
	}{
		"relative":         {v1alpha1.WebAppEnv{Name: rootVariable, Value: "bound"}, orders, "absolute path"},
		"empty":            {v1alpha1.WebAppEnv{Name: rootVariable}, orders, "absolute path"},
		"of a Secret":      {v1alpha1.WebAppEnv{Name: rootVariable, ValueFrom: &v1alpha1.WebAppEnvSource{}}, orders, "absolute path"},
		"with a variable":  {v1alpha1.WebAppEnv{Name: rootVariable, Value: "/$(HOME)"}, orders, "absolute path"},
		"with a colon":     {v1alpha1.WebAppEnv{Name: rootVariable, Value: "/a:b"}, orders, "absolute path"},
		"where it writes":  {v1alpha1.WebAppEnv{Name: rootVariable, Value: "/"}, []folder{{name: "tmp", of: orders[0].of}}, "in /tmp, where the application writes"},
		"absolute":         {v1alpha1.WebAppEnv{Name: rootVariable, Value: "/bound"}, orders, ""},
		"not asked for":    {v1alpha1.WebAppEnv{Name: rootVariable, Value: "bound"}, nil, ""},
		"another variable": {v1alpha1.WebAppEnv{Name: "ROOT", Value: "bound"}, orders, ""},
	} {
		app := sample(t)
		app.Spec.Env = []v1alpha1.WebAppEnv{row.env}
		err := (&reconciliation{app: app, given: projection{folders: row.folders}}).checkRoot()
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
