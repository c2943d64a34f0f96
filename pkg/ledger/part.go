package ledger

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/host"
	"stopgate/pkg/transcript"
)

// What a stop needs must not cost more the more agents its session has had: rows that
// belong to none of those asked for are passed over unread.

// bucketLooks holds how transcripts looked that were read to their end: two numbers of
// eight bytes for each, so that a thousand of them cost nothing to compare.
var bucketLooks = []byte("looks")

// look keeps how a transcript looked.
func (t *Tx) look(path string, l host.Look) {
	if l == (host.Look{}) || !storable(path) {
		return
	}
	b := t.bucket(bucketLooks)
	if t.err != nil || b.Sequence() >= maxRows {
		return // it is read again each time, which is slow and never wrong
	}
	if b.Get([]byte(path)) == nil {
		t.err = b.SetSequence(b.Sequence() + 1)
	}
	if t.err == nil {
		row := binary.BigEndian.AppendUint64(nil, uint64(l.Size))                          //nolint:gosec // only kept
		t.err = b.Put([]byte(path), binary.BigEndian.AppendUint64(row, uint64(l.Written))) //nolint:gosec // only kept
	}
}

func looks(tx *bolt.Tx) map[string]host.Look {
	b := tx.Bucket(bucketLooks)
	if b == nil {
		return nil
	}
	out := make(map[string]host.Look, min(b.Sequence(), maxRows))
	_ = b.ForEach(func(k, v []byte) error {
		if len(v) == 16 {
			out[string(k)] = host.Look{Size: int64(binary.BigEndian.Uint64(v)), Written: int64(binary.BigEndian.Uint64(v[8:]))} //nolint:gosec // as they were kept
		}
		return nil
	})
	return out
}

// maxAbove bounds how far is looked who launched whom.
const maxAbove = 8

// above are ids, and the agents that launched them, and those that launched these; nil
// for nil.
func above(tx *bolt.Tx, ids []string) []string {
	out := slices.Clone(ids)
	for _, id := range ids {
		for range maxAbove {
			l, _ := get[transcript.Launch](tx, bucketLaunches, id)
			if l.Owner == "" {
				a, _ := get[Agent](tx, bucketAgents, id)
				l.Owner = a.Parent
			}
			if id = l.Owner; id == "" || slices.Contains(out, id) {
				break
			}
			out = append(out, id)
		}
	}
	return out
}

// cursors reads those of the coordinator and of the agents asked for, and gives the
// rows of the others as they are.
func cursors(tx *bolt.Tx, ids []string) (read map[string]transcript.Cursor, unread map[string][]byte) {
	read = map[string]transcript.Cursor{}
	asked := map[string]bool{"": true}
	for _, id := range ids {
		asked[id] = true
	}
	b := tx.Bucket(bucketCursors)
	if b == nil {
		return read, nil
	}
	unread = make(map[string][]byte, min(b.Sequence(), maxRows))
	_ = b.ForEach(func(k, v []byte) error {
		path := string(k)
		if !asked[transcript.AgentOf(path)] {
			unread[path] = bytes.Clone(v)
			return nil
		}
		var c transcript.Cursor
		if json.Unmarshal(v, &c) == nil {
			read[path] = c
		}
		return nil
	})
	return read, unread
}

// answeredMark stands in the row of a hold that is over, and can stand in no string
// of it.
var answeredMark = []byte(`"over":true`)

// unanswered are the holds that were not answered.
func unanswered(tx *bolt.Tx) []Hold {
	var out []Hold
	b := tx.Bucket(bucketHolds)
	if b == nil {
		return nil
	}
	_ = b.ForEach(func(_, v []byte) error {
		var h Hold
		if !bytes.Contains(v, answeredMark) && json.Unmarshal(v, &h) == nil && !h.Over {
			out = append(out, h)
		}
		return nil
	})
	return out
}

// list reads a bucket in the order of its keys.
func list[T any](tx *bolt.Tx, bucket []byte) []T {
	var out []T
	b := tx.Bucket(bucket)
	if b == nil {
		return nil
	}
	_ = b.ForEach(func(_, data []byte) error {
		var v T
		if json.Unmarshal(data, &v) == nil {
			out = append(out, v)
		}
		return nil
	})
	return out
}
