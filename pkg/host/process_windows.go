package host

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// inspect opens a process for questions.
func inspect(pid int, ask func(windows.Handle) bool) bool {
	if pid <= 0 {
		return false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing to do about it
	return ask(h)
}

func processCommand(pid int) (words []string, ok bool) {
	ok = inspect(pid, func(h windows.Handle) bool {
		// A header that points into the same buffer, and the text behind it.
		buf := make([]uint64, (maxCommand+64)/8)
		size := uint32(len(buf) * 8)
		if windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]), size, &size) != nil {
			return false
		}
		line := (*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String()
		var err error
		words, err = windows.DecomposeCommandLine(line)
		return err == nil && len(words) > 0
	})
	return words, ok
}

func processParent(pid int) (int, bool) {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0, false
	}
	defer windows.CloseHandle(list) //nolint:errcheck // nothing to do about it
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(list, &entry); err == nil; err = windows.Process32Next(list, &entry) {
		if int(entry.ProcessID) == pid {
			return int(entry.ParentProcessID), entry.ParentProcessID > 0
		}
	}
	return 0, false
}

func processStarted(pid int) (at string, ok bool) {
	ok = inspect(pid, func(h windows.Handle) bool {
		var created, exited, kernel, user windows.Filetime
		if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
			return false
		}
		at = strconv.FormatInt(created.Nanoseconds(), 10)
		return true
	})
	return at, ok
}

// hungUp cannot be told here without writing.
func hungUp(*os.File) bool { return false }
