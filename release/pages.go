package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"stopgate/pkg/cli"
	"stopgate/pkg/version"
)

// pages writes what people read and what their shells complete: man/*.1, the same
// packed for the systems that want them so, completions/*, and NOTICE.txt.
func pages(dir string) error {
	man, packed, completions := filepath.Join(dir, "man"), filepath.Join(dir, "man.gz"), filepath.Join(dir, "completions")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, d := range []string{man, packed, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := manual(man); err != nil {
		return fmt.Errorf("man pages: %w", err)
	}
	if err := pack(man, packed); err != nil {
		return fmt.Errorf("packing man pages: %w", err)
	}
	for _, name := range cli.Names {
		if err := complete(cli.Command(name), filepath.Join(completions, name)); err != nil {
			return fmt.Errorf("completions: %w", err)
		}
	}
	// In an archive the other name of the program is a link.
	for _, name := range cli.Names[1:] {
		if err := os.Symlink(cli.Names[0], filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return notice(filepath.Join(dir, "NOTICE.txt"))
}

// manual writes a page for each command. The other names of the program lead to the
// first one's page.
func manual(dir string) error {
	date, err := epoch()
	if err != nil {
		return err
	}
	first := cli.Command(cli.Names[0])
	untagged(first)
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "stopgate " + version.Number(), Manual: "stopgate"}
	if err := doc.GenManTree(first, header, dir); err != nil {
		return err
	}
	for _, name := range cli.Names[1:] {
		if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(".so man1/"+cli.Names[0]+".1\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// untagged keeps the day of the making out of the pages.
func untagged(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, sub := range cmd.Commands() {
		untagged(sub)
	}
}

func pack(from, to string) error {
	names, err := filepath.Glob(filepath.Join(from, "*.1"))
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)+".gz"), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// complete writes the completion scripts of a command line as path.SHELL.
func complete(root *cobra.Command, path string) error {
	return errors.Join(
		root.GenBashCompletionFileV2(path+".bash", true),
		root.GenZshCompletionFile(path+".zsh"),
		root.GenFishCompletionFile(path+".fish", true),
		root.GenPowerShellCompletionFileWithDesc(path+".ps1"),
	)
}

// notice writes the licences of everybody whose code is in the programs.
func notice(path string) error {
	all, err := linked()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("The programs of stopgate contain the works of others, under these licences.\n")
	for _, m := range all {
		fmt.Fprintf(&b, "\n%s\n%s %s\n\n%s\n", strings.Repeat("-", 78), m.Path, m.Version, strings.TrimSpace(m.License))
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
