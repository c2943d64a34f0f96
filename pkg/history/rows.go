package history

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/state"
)

var (
	bucketCommands = []byte("commands")
	keySwept       = []byte("swept")
	bucketMark     = []byte("about")
)

// mark says in the store whose it is, for who looks at the file only
// ([state.HistoryRow]).
func mark(tx *bolt.Tx) error {
	b, err := tx.CreateBucketIfNotExists(bucketMark)
	if err != nil {
		return err
	}
	const key = "history"
	return b.Put([]byte(key), []byte(strings.TrimPrefix(state.HistoryRow, key)))
}

// get reads an entry; one that cannot be read is none.
func get(tx *bolt.Tx, key string) (e Entry, ok bool) {
	b := tx.Bucket(bucketCommands)
	if b == nil || key == "" {
		return e, false
	}
	data := b.Get([]byte(key))
	if data == nil || json.Unmarshal(data, &e) != nil {
		return Entry{}, false
	}
	e.Key = key
	return e, true
}

func put(b *bolt.Bucket, e Entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return b.Put([]byte(e.Key), data)
}

// entries are all entries, unreadable ones as those that were never noted.
func entries(tx *bolt.Tx) (all []Entry) {
	b := tx.Bucket(bucketCommands)
	if b == nil {
		return nil
	}
	_ = b.ForEach(func(k, v []byte) error {
		var e Entry
		if json.Unmarshal(v, &e) != nil {
			e = Entry{}
		}
		e.Key = string(k)
		all = append(all, e)
		return nil
	})
	return all
}

// sweep removes, once a day, what is no longer remembered.
func sweep(tx *bolt.Tx, now time.Time) error {
	about, swept := tx.Bucket(bucketMark), time.Time{}
	_ = json.Unmarshal(about.Get(keySwept), &swept) // never, where it cannot be read
	if now.Sub(swept).Abs() < sweepEvery {
		return nil
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = about.Put(keySwept, data)
	}
	return errors.Join(err, thin(tx, func(e Entry) bool { return e.old(now) }))
}

// makeRoom makes room for one entry more: of a full store the oldest tenth goes.
// The bucket's sequence counts its rows.
func makeRoom(tx *bolt.Tx) error {
	b := tx.Bucket(bucketCommands)
	if b.Sequence() >= MaxEntries {
		var times []int
		for _, e := range entries(tx) {
			times = append(times, int(e.Last.Unix()))
		}
		slices.Sort(times)
		oldest, left := 0, min(len(times), MaxEntries/10)
		if left > 0 {
			oldest = times[left-1]
		}
		err := thin(tx, func(e Entry) bool {
			goes := left > 0 && int(e.Last.Unix()) <= oldest
			if goes {
				left--
			}
			return goes
		})
		if err != nil {
			return err
		}
	}
	return b.SetSequence(b.Sequence() + 1)
}

// thin removes the entries of which goes says so.
func thin(tx *bolt.Tx, goes func(Entry) bool) error {
	b, left := tx.Bucket(bucketCommands), uint64(0)
	for _, e := range entries(tx) {
		if !goes(e) {
			left++
		} else if err := b.Delete([]byte(e.Key)); err != nil {
			return err
		}
	}
	return b.SetSequence(left)
}
