package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// push pushes the built images to a registry, tagged with the version, with the credentials of docker login. It returns
// an error for a tag that exists with another digest, so that a used tag never changes.
func (r release) push(ctx context.Context, registry string) error {
	for _, p := range images() {
		index, err := r.built(p)
		if err != nil {
			return fmt.Errorf("%s: build it first: %w", p.image(), err)
		}
		at, err := name.NewTag(registry + "/" + p.image() + ":" + r.version)
		if err != nil {
			return err
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
		if err := unused(at, digest, options); err != nil {
			return err
		}
		if err := remote.WriteIndex(at, index, options...); err != nil {
			return fmt.Errorf("push %s: %w", at, err)
		}
		r.say(at.String(), digest.String())
	}
	return nil
}

// unused returns an error unless the registry says that it has nothing at the tag, or the same image: an answer such as
// "unauthorized" does not show that the tag is free.
func unused(at name.Tag, digest v1.Hash, options []remote.Option) error {
	there, err := remote.Head(at, options...)
	if answer, ok := errors.AsType[*transport.Error](err); ok && answer.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask whether %s is there already: %w", at, err)
	}
	if there.Digest != digest {
		return fmt.Errorf("%s is there already, as %s: choose another version", at, there.Digest)
	}
	return nil
}

// built returns the image index of p from its layout, which contains nothing else.
func (r release) built(p program) (v1.ImageIndex, error) {
	at, err := layout.ImageIndexFromPath(r.path("images", p.image()))
	if err != nil {
		return nil, err
	}
	top, err := at.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(top.Manifests) != 1 || top.Manifests[0].Annotations[refName] != r.version {
		return nil, fmt.Errorf("%s holds another version than %s", r.path("images", p.image()), r.version)
	}
	return at.ImageIndex(top.Manifests[0].Digest)
}
