package state

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// nonblocking has no meaning here: opening never waits.
const nonblocking = 0

// lockStays: a lock file cannot be removed while anybody has it open, so that a lock is
// always that of the file under its name.
const lockStays = true

// othersHome has no meaning here: who may write is not a matter of owners.
func othersHome(string) bool { return false }

// private tells whether a folder is one of this user's, which nobody else made.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("not a folder")
	}
	security, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := security.Owner()
	if err != nil {
		return err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	// What an administrator makes can belong to all of them.
	if !owner.Equals(user.User.Sid) && !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
		return errors.New("not this user's")
	}
	return nil
}
