// Package client takes the real Claude Code from the npm registry and runs it
// for a test: print mode, stream-json, or the terminal.
//
// In: a version, a prepared home, settings. Out: a running session to which
// prompts and keys are sent. Everything ends with the session.
package client

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// CacheEnv names the folder that keeps the unpacked clients.
const CacheEnv = "STOPGATE_CLIENT_CACHE"

// CacheDir is $STOPGATE_CLIENT_CACHE, or stopgate/clients in the user's cache.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for clients: %w; set %s", err, CacheEnv)
	}
	return filepath.Join(dir, "stopgate", "clients"), nil
}

// Platform is this machine in the registry's words, for example linux-x64.
func Platform() string {
	goos := map[string]string{"windows": "win32"}[runtime.GOOS]
	if goos == "" {
		goos = runtime.GOOS
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	if runtime.GOOS == "linux" {
		if m, _ := filepath.Glob("/lib/ld-musl-*"); m != nil {
			arch += "-musl"
		}
	}
	return goos + "-" + arch
}

func pkg(platform string) string { return "@anthropic-ai/claude-code-" + platform }

func program() string {
	if runtime.GOOS == "windows" {
		return "claude.exe"
	}
	return "claude"
}

// Resolve turns a tag such as latest into a version; a version stays as it is.
func Resolve(ctx context.Context, version string) (string, error) {
	if version != "" && version[0] >= '0' && version[0] <= '9' {
		return version, nil
	}
	out, err := npm(ctx, "", "view", pkg(Platform())+"@"+version, "version")
	if err != nil {
		return "", fmt.Errorf("client %s: %w", version, err)
	}
	return strings.TrimSpace(out), nil
}

// Fetch returns the client's program, from the cache or else from the registry.
// It needs the network only in the second case.
func Fetch(ctx context.Context, version string) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, Platform()+"-"+version)
	bin := filepath.Join(dir, program())
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("client %s: %w", version, err)
	}
	tmp, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", fmt.Errorf("client %s: %w", version, err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // a temp folder
	out, err := npm(ctx, tmp, "pack", "--silent", pkg(Platform())+"@"+version)
	if err != nil {
		return "", fmt.Errorf("client %s: %w", version, err)
	}
	lines := strings.Fields(out)
	if len(lines) == 0 {
		return "", fmt.Errorf("client %s: npm pack named no file", version)
	}
	unpacked := filepath.Join(tmp, "unpacked")
	if err := unpack(filepath.Join(tmp, lines[len(lines)-1]), unpacked); err != nil {
		return "", fmt.Errorf("client %s: %w", version, err)
	}
	if err := os.Rename(unpacked, dir); err != nil {
		if _, other := os.Stat(bin); other == nil {
			return bin, nil // another run was faster
		}
		return "", fmt.Errorf("client %s: %w", version, err)
	}
	return bin, nil
}

// SDKVersion is the official SDK that plays a host.
const SDKVersion = "0.3.332"

// FetchSDK returns a folder whose node_modules holds the official SDK without any
// client of its own, from the cache or else from the registry.
func FetchSDK(ctx context.Context) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	const name = "@anthropic-ai/claude-agent-sdk"
	dir := filepath.Join(cache, "sdk-"+SDKVersion)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", name)); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("the SDK: %w", err)
	}
	if _, err := npm(ctx, dir, "install", "--prefix", dir, "--no-audit", "--no-fund", "--omit=optional", "--ignore-scripts", name+"@"+SDKVersion); err != nil {
		return "", fmt.Errorf("the SDK: %w", err)
	}
	return dir, nil
}

func npm(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("npm %s: %w: %.300s", args[0], err, exit.Stderr)
		}
		return "", err
	}
	return string(out), nil
}

// unpack takes the program out of the package's archive, and nothing else.
func unpack(tgz, dir string) error {
	f, err := os.Open(tgz)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(tgz), err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s holds no %s", filepath.Base(tgz), program())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(tgz), err)
		}
		if h.Typeflag != tar.TypeReg || filepath.Base(h.Name) != program() {
			continue
		}
		out, err := os.OpenFile(filepath.Join(dir, program()), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, tr); err != nil {
			_ = out.Close()
			return err
		}
		return out.Close()
	}
}
