package history

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stopgate/pkg/digest"
	"stopgate/pkg/host"
	"stopgate/pkg/state"
)

// secret is the key of the hashes. It lies in a file of its own, so that a stop whose
// commands were never seen makes no store only to ask it.
type secret [digest.Size]byte

// halfWritten is after how long a key that is not whole is taken for one whose writer
// is gone.
const halfWritten = time.Minute

// readSecret reads the key of a state folder.
func readSecret(dir state.Dir) (key secret, err error) {
	length := len(state.HistoryKeyBegin) + hex.EncodedLen(len(key)) + len("\n")
	text, err := host.Files{}.ReadSmall(dir.HistoryKey(), length+1)
	if err != nil {
		return key, err
	}
	line, whole := strings.CutSuffix(string(text), "\n")
	digits, ours := strings.CutPrefix(line, state.HistoryKeyBegin)
	if !whole || !ours || len(text) != length {
		return key, errNoKey
	}
	if _, err := hex.Decode(key[:], []byte(digits)); err != nil {
		return secret{}, errNoKey
	}
	return key, nil
}

var errNoKey = errors.New("history.key: not a key")

// needSecret reads the key, and makes it where there is none. Of several that make it
// at once one does; the others wait for what it writes.
func needSecret(dir state.Dir) (key secret, err error) {
	for range writeTries {
		key, err = readSecret(dir)
		if errors.Is(err, errNoKey) && abandoned(dir.HistoryKey()) && dir.Remove(dir.HistoryKey()) == nil {
			err = fs.ErrNotExist
		}
		if errors.Is(err, fs.ErrNotExist) {
			key, err = makeSecret(dir)
		}
		if !errors.Is(err, errNoKey) && !errors.Is(err, fs.ErrExist) {
			return key, err
		}
		time.Sleep(writeTry)
	}
	return secret{}, err
}

// How long a key is waited for that another process is writing.
const (
	writeTries = 50
	writeTry   = time.Millisecond
)

// abandoned tells whether nobody writes a file any more, by the machine's clock, as its
// time is.
func abandoned(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()).Abs() > halfWritten
}

// makeSecret makes the key of a state folder that has none.
func makeSecret(dir state.Dir) (key secret, err error) {
	if err := dir.Make(); err != nil {
		return key, err
	}
	// The runtime's own generator, which the system seeds: crypto/rand brings more code
	// than the hook has room for, and who can read the key can read the rows, too.
	for i := 0; i < len(key); i += 8 {
		binary.LittleEndian.PutUint64(key[i:], rand.Uint64())
	}
	file, err := host.New(dir.HistoryKey()) // without a sync: a stop waits for no disk
	if err != nil {
		return secret{}, err
	}
	_, err = file.WriteString(state.HistoryKeyBegin + hex.EncodeToString(key[:]) + "\n")
	return key, errors.Join(err, file.Close())
}

// keyOf is the hash that a command of a project is known by, "" where there is no
// command.
func (s secret) keyOf(command, project string) string {
	normal := Normal(command, project)
	if normal == "" {
		return ""
	}
	sum := digest.Keyed(s, []byte(filepath.Clean(project)+"\x00"+normal))
	return hex.EncodeToString(sum[:])
}
