package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"stopgate/pkg/version"
)

// content is one regular file of an archive.
type content struct {
	name string
	data []byte
	mode os.FileMode
}

// unpack reads the regular files of a .tar.gz or .zip.
func unpack(archive string) ([]content, error) {
	data, err := os.ReadFile(archive)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(archive, ".zip") {
		return unzip(data)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	var all []content
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", archive, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", archive, h.Name, err)
		}
		all = append(all, content{h.Name, data, h.FileInfo().Mode()})
	}
}

func unzip(data []byte) ([]content, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var all []content
	for _, f := range r.File {
		if !f.Mode().IsRegular() {
			continue
		}
		file, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all = append(all, content{f.Name, data, f.Mode()})
	}
	return all, nil
}

// sbom writes the bill of materials of an archive as CycloneDX: its programs with
// their hashes, and the modules that the go tool noted in each.
func sbom(archive, document string) error {
	files, err := unpack(archive)
	if err != nil {
		return err
	}
	made, err := epoch()
	if err != nil {
		return err
	}
	whole, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	bom, err := describe(files)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	bom.SerialNumber = "urn:uuid:" + uuidOf(whole)
	bom.Metadata = &cdx.Metadata{
		Timestamp: made.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: root, Type: cdx.ComponentTypeApplication, Name: "stopgate", Version: version.Number(),
			Hashes: hashes(whole), Licenses: license("MIT"),
			Properties: &[]cdx.Property{{Name: "stopgate:archive", Value: filepath.Base(archive)}},
		},
	}
	var out bytes.Buffer
	if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(document, out.Bytes(), 0o644)
}

// root is the reference of the archive as a whole.
const root = "stopgate"

// describe lists the programs among the files and what they are made of.
func describe(files []content) (*cdx.BOM, error) {
	licences, err := linked()
	if err != nil {
		return nil, err
	}
	spdx := map[string]string{}
	for _, m := range licences {
		spdx[m.Path] = m.SPDX
	}
	bom := cdx.NewBOM()
	var programs, modules []cdx.Component
	var needs []cdx.Dependency
	top := cdx.Dependency{Ref: root, Dependencies: &[]string{}}
	seen := map[string]bool{}
	for _, f := range files {
		info, err := buildinfo.Read(bytes.NewReader(f.data))
		if err != nil {
			continue // no program
		}
		ref := "program:" + path.Base(f.name)
		programs = append(programs, cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: path.Base(f.name), Version: version.Number(),
			Hashes: hashes(f.data), Licenses: license("MIT"), Properties: settings(info),
		})
		*top.Dependencies = append(*top.Dependencies, ref)
		of := cdx.Dependency{Ref: ref, Dependencies: &[]string{}}
		for _, d := range append(info.Deps, &debug.Module{Path: std, Version: info.GoVersion}) {
			c := component(d, spdx[d.Path])
			*of.Dependencies = append(*of.Dependencies, c.BOMRef)
			if !seen[c.BOMRef] {
				seen[c.BOMRef] = true
				modules = append(modules, c)
			}
		}
		needs = append(needs, of)
	}
	if len(programs) == 0 {
		return nil, errors.New("no program in it")
	}
	slices.SortFunc(modules, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	all := append(programs, modules...)
	graph := append([]cdx.Dependency{top}, needs...)
	bom.Components, bom.Dependencies = &all, &graph
	return bom, nil
}

// component is a module as the go tool noted it.
func component(d *debug.Module, spdx string) cdx.Component {
	number := strings.TrimPrefix(d.Version, "go")
	ref := "pkg:golang/" + d.Path + "@" + number
	c := cdx.Component{BOMRef: ref, PackageURL: ref, Type: cdx.ComponentTypeLibrary, Name: d.Path, Version: number, Licenses: license(spdx)}
	if d.Sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: d.Sum}}
	}
	return c
}

// settings are the go tool's notes on a build.
func settings(info *debug.BuildInfo) *[]cdx.Property {
	all := []cdx.Property{{Name: "go:main", Value: info.Path}}
	for _, s := range info.Settings {
		all = append(all, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	return &all
}

func license(spdx string) *cdx.Licenses {
	if spdx == "" {
		return nil
	}
	return &cdx.Licenses{{License: &cdx.License{ID: spdx}}}
}

func hashes(data []byte) *[]cdx.Hash {
	sum := sha256.Sum256(data)
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
}

// uuidOf is a UUID (version 8) that depends on the bytes alone.
func uuidOf(data []byte) string {
	sum := sha256.Sum256(data)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
