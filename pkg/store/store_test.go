package store

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

var updateTemplate = flag.Bool("update", false, "write empty.heads anew")

// An empty store is copied, not made: making one syncs the disk, whatever the
// options say. It must be what bbolt would make.
func TestTheEmptyStoreIsWhatBboltMakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: templatePage})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if *updateTemplate {
		var heads []byte
		for at := 0; at < len(made); at += templatePage {
			heads = append(heads, made[at:at+templateHead]...)
		}
		if err := os.WriteFile("empty.heads", heads, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOOS == "windows" && len(made) > len(template()) {
		made = made[:len(template())] // what is mapped there makes the file as long as the map
	}
	if !bytes.Equal(made, template()) {
		t.Error("empty.heads is not what bbolt makes: go test ./pkg/store -run EmptyStore -update")
	}
}

var rows = []byte("rows")

// fill makes a store of several pages.
func fill(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	err := Update(path, 1, func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(rows)
		for i := 0; err == nil && i < 300; i++ {
			err = b.Put([]byte{byte(i >> 8), byte(i)}, bytes.Repeat([]byte("x"), 100))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadingAndWriting(t *testing.T) {
	t.Parallel()
	path := fill(t)
	read := func(schema uint64) (n int, err error) {
		err = View(path, schema, func(tx *bolt.Tx) error {
			n = tx.Bucket(rows).Stats().KeyN
			return nil
		})
		return n, err
	}
	if n, err := read(1); n != 300 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	if n, err := read(0); n != 0 || !errors.Is(err, ErrNewer) {
		t.Errorf("an older version read %d rows, %v", n, err)
	}
	if err := Update(path, 0, func(*bolt.Tx) error { return nil }); !errors.Is(err, ErrNewer) {
		t.Errorf("an older version wrote: %v", err)
	}
	mine := errors.New("mine")
	err := Update(path, 1, func(tx *bolt.Tx) error {
		return errors.Join(tx.Bucket(rows).Delete([]byte{0, 0}), mine)
	})
	if n, _ := read(1); n != 300 || !errors.Is(err, mine) || errors.Is(err, ErrBroken) {
		t.Errorf("after a change that failed: %d rows, %v", n, err)
	}
	if err := View(path, 1, func(*bolt.Tx) error { return mine }); !errors.Is(err, mine) || errors.Is(err, ErrBroken) {
		t.Error(err)
	}
	beside := filepath.Join(filepath.Dir(path), "y.db")
	if err := View(beside, 1, func(*bolt.Tx) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := Update(beside, 1, func(*bolt.Tx) error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	if _, err := os.Stat(beside); err == nil {
		t.Error("a beginning that failed left a store")
	}
	if err := Update(filepath.Join(path, "z.db"), 1, func(*bolt.Tx) error { return nil }); err == nil || errors.Is(err, ErrBroken) {
		t.Errorf("no place for a store: %v", err)
	}
}

// Whatever lies in the place of a store, looking at it and changing it gives an
// error that says so, at once.
func TestBrokenStores(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"no bytes": func(path string) error { return os.Truncate(path, 0) },
		"garbage":  func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("garbage ", 9999)), 0o600) },
		"a folder": func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := fill(t)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			if err := View(path, 1, func(tx *bolt.Tx) error { return walk(tx) }); !errors.Is(err, ErrBroken) {
				t.Errorf("reading gave %v", err)
			}
			if err := Update(path, 1, func(*bolt.Tx) error { return nil }); !errors.Is(err, ErrBroken) {
				t.Errorf("writing gave %v", err)
			}
		})
	}
}

func walk(tx *bolt.Tx) error {
	return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
		return b.ForEach(func(_, _ []byte) error { return nil })
	})
}

// A store that was cut at any page either still serves or is broken; the fault in
// the memory map is an error, and the store can be had again at once.
func TestTruncatedAtEveryPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(fill(t))
	if err != nil {
		t.Fatal(err)
	}
	for cut := os.Getpagesize(); cut < len(data); cut += os.Getpagesize() {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := View(path, 1, walk); err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("cut at %d: reading gave %v", cut, err)
		}
		if err := Update(path, 1, func(*bolt.Tx) error { return nil }); err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("cut at %d: writing gave %v", cut, err)
		}
	}
}
