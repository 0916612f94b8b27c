// Command app is the program in the images of the node tests: a web application that can fail in many ways, a client
// that tries the network of a Pod, and the container that holds a Pod's namespaces.
//
//	app                     serves at PORT; MODE says how it fails
//	app pause               waits for SIGTERM
//	app reach ADDRESS...    waits for policies, connects to each by TCP, and prints a line each
//	app serve ADDRESS...    listens at each
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	arguments := os.Args[1:]
	if len(arguments) == 0 {
		arguments = []string{"web"}
	}
	var err error
	switch arguments[0] {
	case "pause":
		pause(ctx)
	case "reach":
		reach(ctx, arguments[1:])
	case "serve":
		err = listen(ctx, arguments[1:])
	default:
		err = web(ctx)
	}
	if err != nil {
		log.Print(err)
		stop()
		os.Exit(1) //nolint:gocritic // stopped above
	}
}

// pause reaps the orphans of the Pod's processes until SIGTERM.
func pause(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			for {
				if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
					break
				}
			}
		}
	}
}

// reachTimeout is long enough for an answer on one machine; a packet that a policy drops gets none.
const reachTimeout = 2 * time.Second

// policyDelay is how long the policies of a new Pod may take, those that deny; those that allow get tries in addition.
const policyDelay, tries = 8 * time.Second, 4

func reach(ctx context.Context, addresses []string) {
	time.Sleep(policyDelay)
	dialer := net.Dialer{Timeout: reachTimeout}
	for _, address := range addresses {
		var conn net.Conn
		var err error
		for range tries {
			if conn, err = dialer.DialContext(ctx, "tcp", address); err == nil {
				_ = conn.Close()
				break
			}
			time.Sleep(time.Second)
		}
		if err != nil {
			fmt.Println(address, "no", err)
			continue
		}
		fmt.Println(address, "yes")
	}
}

func listen(ctx context.Context, addresses []string) error {
	for _, address := range addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return err
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_ = conn.Close()
			}
		}()
	}
	<-ctx.Done()
	return nil
}

// web serves, and fails as MODE says.
func web(ctx context.Context) error {
	began, mode := time.Now(), os.Getenv("MODE")
	if mode == "talks" {
		go talk()
	}
	log.Printf("version %s, user %d, mode %q", os.Getenv("VERSION"), os.Getuid(), mode)
	if err := fail(mode); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "version %s", os.Getenv("VERSION"))
	})
	mux.HandleFunc("/env", func(w http.ResponseWriter, _ *http.Request) {
		for _, variable := range os.Environ() {
			_, _ = fmt.Fprintln(w, variable)
		}
	})
	mux.HandleFunc("/work", work)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case mode == "deadlock" && time.Since(began) > 8*time.Second:
			<-r.Context().Done()
		case mode == "unready" || mode == "once", mode == "flapping" && time.Since(began)/(8*time.Second)%2 == 1:
			http.Error(w, "the ledger cannot be reached", http.StatusServiceUnavailable)
		}
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	server := &http.Server{Addr: ":" + port, Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		if mode == "term1" {
			log.Print("SIGTERM: exit code 1, as of many frameworks")
			os.Exit(1)
		}
		time.Sleep(2 * time.Second) // until no Service sends requests
		_ = server.Shutdown(context.WithoutCancel(ctx))
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// talk prints a line each second.
func talk() {
	for n := 0; ; n++ {
		fmt.Printf("INFO  served %d requests\n", n)
		time.Sleep(time.Second)
	}
}

// work uses processor time.
func work(http.ResponseWriter, *http.Request) {
	for end, n := time.Now().Add(200*time.Millisecond), 0; time.Now().Before(end); n++ {
		_ = n
	}
}

// mebibyte is the step in which memory and disk fill up.
const mebibyte = 1 << 20

// fail fails at the start, or begins to.
func fail(mode string) error {
	switch mode {
	case "crash":
		time.Sleep(time.Second)
		log.Print("FATAL cannot open the ledger: no such table")
		os.Exit(3)
	case "end":
		os.Exit(0)
	case "once": // crashes at its first start alone
		if _, err := os.Stat("/tmp/once"); err != nil {
			_ = os.WriteFile("/tmp/once", nil, 0o600)
			os.Exit(5)
		}
	case "memory":
		go fillMemory()
	case "child": // the main process lives on
		go func() {
			for {
				child := exec.Command(os.Args[0])
				child.Env = []string{"MODE=memory", "PORT=8099"}
				log.Print("a child ended: ", child.Run())
				time.Sleep(time.Second)
			}
		}()
	case "disk":
		go fillDisk("/tmp/big")
	}
	return nil
}

func fillMemory() {
	var all [][]byte
	for {
		block := make([]byte, 8*mebibyte)
		for i := range block {
			block[i] = 1
		}
		all = append(all, block)
		time.Sleep(20 * time.Millisecond)
		_ = all
	}
}

func fillDisk(path string) {
	f, err := os.Create(path)
	for i := 0; err == nil && i < 1200; i++ {
		_, err = f.Write(make([]byte, mebibyte))
	}
	log.Print("the disk is filled: ", err)
}
