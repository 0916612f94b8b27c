package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"path"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/package-url/packageurl-go"
)

// sbom writes the modules of a binary, from its build information.
func (r release) sbom(p program, on platform, binary []byte) error {
	build, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.date.Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{
			BOMRef: p.name, Type: cdx.ComponentTypeApplication, Name: "portico-" + p.name, Version: r.version,
			PackageURL: moduleURL(build.Main.Path, r.version),
		},
	}
	if p.name == client.name {
		bom.Metadata.Component.Name = p.name
	}
	components := []cdx.Component{{
		BOMRef: "std", Type: cdx.ComponentTypeLibrary, Name: "std", Version: build.GoVersion,
		PackageURL: moduleURL("std", build.GoVersion),
	}}
	for _, m := range build.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, cdx.Component{
			BOMRef: m.Path, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			PackageURL: moduleURL(m.Path, m.Version),
		})
	}
	bom.Components = &components
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("sbom/%s-%s-%s-%s.cdx.json", bom.Metadata.Component.Name, r.version, on.os, on.arch),
		out.Bytes())
}

// moduleURL returns the package URL of a Go module.
func moduleURL(module, version string) string {
	folder, name := path.Split(module)
	return packageurl.NewPackageURL(packageurl.TypeGolang, strings.TrimSuffix(folder, "/"), name, version, nil,
		"").ToString()
}
