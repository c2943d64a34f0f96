//go:build live

package live

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/live/client"
)

var (
	clientFlag   = flag.String("client", "", "versions of the client, comma-separated; latest is one (default: the list in versions.go)")
	smokeFlag    = flag.Bool("smoke", os.Getenv("STOPGATE_LIVE") == "smoke", "a few scenarios on the newest listed version only")
	writeFlag    = flag.Bool("write", false, "write what the sessions without failures showed into docs/compatibility.md")
	dumpFlag     = flag.String("dump", "", "keep each session's folder, with every request, under this folder: to look at, never to commit")
	onlyFlag     = flag.String("mode", "", "only these modes of registration, comma-separated (off, gate, hold, courier, both, installed, alone)")
	npmFlag      = flag.String("npm", "", "also TestNPM: the folder with the npm packages of a release (../dist/npm)")
	realtimeFlag = flag.Duration("realtime", 0, "only TestRealTime, on the newest listed version: tasks that take so long, not scaled (25m)")
)

// innerEnv carries what was prepared outside into the namespace.
const innerEnv = "STOPGATE_LIVE_INNER"

// prepared is what a run needs and a namespace cannot get.
type prepared struct {
	Clients []clientUnderTest
	Hook    string
	Hookctl string
	// Why one of them could not be built.
	NoHook, NoHookctl string
	// SDK is the folder of the official SDK, or NoSDK says why there is none.
	SDK, NoSDK string
}

type clientUnderTest struct{ Version, Bin string }

var (
	under prepared
	skip  string // why nothing can run here
)

func TestMain(m *testing.M) {
	if len(os.Args) > 4 && os.Args[1] == recorderArg {
		os.Exit(recorder(os.Args[2:]))
	}
	if len(os.Args) > 3 && os.Args[1] == stubArg {
		os.Exit(stubbed(os.Args[2], os.Args[3]))
	}
	flag.Parse()
	if inner := os.Getenv(innerEnv); inner != "" {
		os.Unsetenv(innerEnv)
		err := json.Unmarshal([]byte(inner), &under)
		if err == nil {
			err = loopbackOnly()
		}
		if err != nil {
			skip = "not isolated: " + err.Error()
		}
		os.Exit(report(m.Run()))
	}
	os.Exit(outer(m))
}

// outer fetches and builds with the network at hand, then runs the tests in a
// namespace without it.
func outer(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stopgate-live-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if f := flag.Lookup("test.list"); f != nil && f.Value.String() != "" {
		return m.Run()
	}
	p, err := prepare(dir)
	if err == nil {
		var b []byte
		b, err = json.Marshal(p)
		if err == nil {
			var code int
			if code, err = isolated(innerEnv + "=" + string(b)); err == nil {
				return code
			}
		}
	}
	skip = err.Error()
	fmt.Println("live: SKIPPED, nothing was proved:", skip)
	return m.Run()
}

func versions() []string {
	switch {
	case *clientFlag != "":
		return strings.Split(*clientFlag, ",")
	case *smokeFlag, *realtimeFlag > 0:
		return Versions[len(Versions)-1:]
	}
	return Versions
}

func prepare(dir string) (prepared, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var p prepared
	for _, v := range versions() {
		version, err := client.Resolve(ctx, v)
		if err != nil {
			return p, err
		}
		bin, err := client.Fetch(ctx, version)
		if err != nil {
			return p, err
		}
		p.Clients = append(p.Clients, clientUnderTest{version, bin})
	}
	for name, why := range map[string]*string{"hook": &p.NoHook, "hookctl": &p.NoHookctl} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, name), "stopgate/cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			*why = fmt.Sprintf("cmd/%s does not build: %v: %.300s", name, err, out)
		}
	}
	if !*smokeFlag && *realtimeFlag == 0 {
		sdk, err := client.FetchSDK(ctx)
		if p.SDK = sdk; err != nil {
			p.NoSDK = err.Error()
		}
	}
	p.Hook, p.Hookctl = filepath.Join(dir, "hook"), filepath.Join(dir, "hookctl")
	return p, nil
}
