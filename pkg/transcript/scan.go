package transcript

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/tidwall/gjson"

	"stopgate/pkg/digest"
	"stopgate/pkg/extent"
	"stopgate/pkg/host"
)

// Source is one transcript to read.
type Source struct {
	// Path is the file as the payload or the file list names it.
	Path string
	// Owner is whose transcript it is, an agent id or [Main], where the file's name
	// does not say so.
	Owner string
}

const (
	// chunk is how much is read at once; with maxLine it bounds the memory.
	chunk = 256 << 10
	// maxLine is the longest line looked at, in bytes. Launches stand on far
	// shorter ones; a longer line is skipped, not an error.
	maxLine = 4 << 20
	// identitySpan is how much before the offset identifies a file.
	identitySpan = 4 << 10
)

// recordMarks are how a record begins: where to look for one behind a torn start.
var (
	recordMarks = [][]byte{
		[]byte(`{"parentUuid"`), []byte(`{"isSidechain"`), []byte(`{"agentId"`),
		[]byte(`{"type":"user"`), []byte(`{"type":"assistant"`), []byte(`{"type":"attachment"`), []byte(`{"type":"queue-operation"`),
	}
)

// Scan reads what a transcript gained since from. A file that is not the one
// from was taken of (replaced, rewritten or cut shorter), or that was read as
// somebody else's, is read from its start.
// Only whole lines are read; the size when Scan starts is where it ends. When
// ctx is done it returns what it has, with Cut set. A file that cannot be opened
// is an error and leaves the cursor as it was.
func Scan(ctx context.Context, files host.Files, src Source, from Cursor) (Batch, error) {
	src.Owner = src.owner()
	b := Batch{Cursor: from}
	b.Cursor.Open, b.Cursor.Early = slices.Clone(from.Open), slices.Clone(from.Early)
	file, info, err := files.Open(src.Path)
	if err != nil {
		return b, err
	}
	defer file.Close() //nolint:errcheck // only read

	inode := host.Inode(file, info)
	if from.Offset > 0 {
		sum, err := sumBefore(file, from.Offset)
		anothers := from.Owner != "" && from.Owner != src.Owner
		if err != nil || anothers || inode != from.Inode || from.Offset > info.Size() || sum != from.Sum {
			b.Cursor = Cursor{}
		}
	}
	b.Cursor.Inode, b.Cursor.Owner = inode, src.Owner
	if b.Cursor.Offset < info.Size() {
		p := pass{Batch: &b, ctx: ctx, src: src, file: file}
		if err := p.scan(info.Size()); err != nil {
			return b, err
		}
	}
	sum, err := sumBefore(file, b.Cursor.Offset)
	if err != nil {
		return b, err
	}
	b.Cursor.Sum = sum
	if b.Cursor.Offset == info.Size() {
		b.Look = host.LookOf(info)
	}
	return b, nil
}

// sumBefore hashes up to identitySpan bytes before offset.
func sumBefore(file *os.File, offset int64) (string, error) {
	start := max(0, offset-identitySpan)
	buf := make([]byte, offset-start)
	if n, err := file.ReadAt(buf, start); err != nil && (n < len(buf) || !errors.Is(err, io.EOF)) {
		return "", err
	}
	sum := digest.Of(buf)
	return hex.EncodeToString(sum[:12]), nil
}

// pass is one reading of a transcript under way.
type pass struct {
	*Batch
	ctx  context.Context
	src  Source // with the owner that counts
	file *os.File
	// searches counts the calls that were looked for.
	searches int
}

// scan reads whole lines from the cursor up to size.
func (p *pass) scan(size int64) error {
	buf := make([]byte, chunk)
	kept := 0                   // bytes of an unfinished line at the start of buf
	skipping := p.Cursor.Inside // inside a line that is too long
	at := p.Cursor.Offset
	lineAt := at // where the line at the start of buf begins
	for at < size {
		if p.ctx.Err() != nil {
			p.Cut = true
			return nil //nolint:nilerr // what was read counts
		}
		want := int(min(int64(len(buf)-kept), size-at))
		n, err := p.file.ReadAt(buf[kept:kept+want], at)
		if n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				return nil // cut shorter meanwhile
			}
			return &fs.PathError{Op: "read", Path: p.src.Path, Err: err}
		}
		at += int64(n)
		p.Read += int64(n)
		data := buf[:kept+n]
		notices := bytes.Contains(data, markNotice)
		// What was kept holds no line end.
		search := kept
		for {
			end := bytes.IndexByte(data[search:], '\n')
			if end < 0 {
				break
			}
			line := data[:search+end]
			if skipping {
				skipping, p.Cursor.Inside = false, false
			} else {
				p.line(line, notices, lineAt)
			}
			lineAt += int64(len(line)) + 1
			data, search = data[len(line)+1:], 0
			p.Cursor.Offset = lineAt
		}
		switch {
		case skipping, len(data) >= maxLine:
			// What was passed over need not be read again, even if the line has
			// no end yet: a hole of two gigabytes is one.
			if !skipping {
				p.Oversize++
				skipping, p.Cursor.Inside = true, true
			}
			lineAt += int64(len(data))
			p.Cursor.Offset = lineAt
			kept = 0
		default:
			kept = copy(buf, data)
			if kept == len(buf) {
				buf = append(buf, make([]byte, len(buf))...) //nolint:makezero // it is full
			}
		}
	}
	p.withoutCalls()
	return nil
}

// line takes one line, without its end. notices tells whether it may hold one.
func (p *pass) line(line []byte, notices bool, offset int64) {
	if !p.worthParsing(line, notices) {
		return
	}
	for piece := range pieces(line) {
		p.Bad += records(piece, func(r record) { p.read(r, offset) })
	}
}

// pieces are what stands beside holes of NULs on a line: records of their own.
func pieces(line []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(line) > 0 {
			piece, rest, _ := bytes.Cut(line, nul)
			if len(piece) > 0 && !yield(piece) {
				return
			}
			line = rest
		}
	}
}

var nul = []byte{0}

// maxTries bounds the search for records on a torn line.
const maxTries = 32

// records gives what should be one record, and counts those that are none. Several
// writers can tear one: then records may stand behind the torn start, before a torn
// end, or side by side.
func records(line []byte, take func(record)) (bad int) {
	line = bytes.TrimSpace(line)
	for try := 0; len(line) > 0 && try < maxTries; try++ {
		n, complete := 0, false
		if line[0] == '{' {
			n, complete = extent.Of(line)
		}
		rest := bytes.TrimLeft(line[n:], " \t\r\x00")
		// Behind a record stands nothing or the next one; else it is a part of a
		// torn one.
		if complete && (len(rest) == 0 || rest[0] == '{') {
			if text := string(line[:n]); gjson.Valid(text) {
				take(parseRecord(text))
				if try == 0 && len(rest) > 0 {
					bad++
				}
				line = rest
				continue
			}
		}
		if try == 0 {
			bad++
		}
		next := -1
		for _, mark := range recordMarks {
			if at := bytes.Index(line[1:], mark); at >= 0 && (next < 0 || at+1 < next) {
				next = at + 1
			}
		}
		if next < 0 {
			break
		}
		line = line[next:]
	}
	return bad
}
