//go:build linux

// Command foreign runs a command in which programs for arm64 start by themselves,
// through qemu: in a user namespace with a binfmt_misc of its own (Linux 6.7), so that
// the machine stays as it is.
//
//	go run ./.ci/foreign COMMAND ARGS…
//
// Exit code 75: the kernel cannot do it.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

const (
	inside = "STOPGATE_CI_FOREIGN"
	qemu   = "/usr/bin/qemu-aarch64-static"
	cannot = 75
	// arm64 is how binfmt_misc knows the programs: by the first 20 bytes, under a
	// mask. F opens qemu now, for whatever file system a test lives in.
	arm64 = `:arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:` +
		`\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:` + qemu + `:F`
	binfmt = "/proc/sys/fs/binfmt_misc"
)

func main() {
	if len(os.Args) < 2 {
		fail(2, errors.New("which command?"))
	}
	if os.Getenv(inside) == "" {
		outside()
		return
	}
	if err := errors.Join(
		syscall.Mount("binfmt_misc", binfmt, "binfmt_misc", 0, ""),
		os.WriteFile(binfmt+"/register", []byte(arm64), 0),
	); err != nil {
		fail(cannot, err)
	}
	program, err := exec.LookPath(os.Args[1])
	if err != nil {
		fail(1, err)
	}
	fail(1, syscall.Exec(program, os.Args[1:], os.Environ()))
}

// outside runs this program again in namespaces of its own.
func outside() {
	self, err := os.Executable()
	if err != nil {
		fail(1, err)
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=1")
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	groups := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	if os.Getuid() == 0 { // some tests become another user
		ids[0].Size, groups[0].Size = 65536, 65536
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL,
		UidMappings: ids, GidMappings: groups, GidMappingsEnableSetgroups: os.Getuid() == 0,
	}
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fail(cannot, err)
	}
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "foreign:", err)
	os.Exit(code)
}
