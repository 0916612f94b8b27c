// Command notes is a small web application that shows what Portico binds to it: a bucket, a queue and a database, used
// with its own AWS rights and its own database user. It has buttons for what goes wrong in an application, too.
//
// It reads what Portico gives to Pods, and nothing else: the variables of the bindings with the prefixes FILES (an
// S3Bucket) and MESSAGES (an SQSQueue), and the files of the binding "rows" (an RDSInstance with PostgreSQL). AWS
// credentials come from the SDK's default chain. Each binding is optional.
package main

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
)

// askTimeout bounds all that one page asks for.
const askTimeout = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Print(err)
		os.Exit(1) //nolint:gocritic // the process ends
	}
}

func serve(ctx context.Context) error {
	aws, err := config.LoadDefaultConfig(ctx, config.WithRetryMaxAttempts(2))
	if err != nil {
		return err
	}
	a := &app{
		files: newBucket(aws, os.Getenv), messages: newQueue(aws, os.Getenv), rows: newTable(os.Getenv),
		began: time.Now(), host: os.Getenv("HOSTNAME"),
	}
	server := &http.Server{Addr: ":8080", Handler: a.routes(), ReadHeaderTimeout: 5 * time.Second}
	log.Printf("serving at %s; bound: bucket %t, queue %t, database %t", server.Addr, a.files != nil, a.messages != nil,
		a.rows != nil)
	done := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		_ = server.Shutdown(ending) // what is left ends with the process
	})
	defer done()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// app is the application; the fields of bindings that it does not have are nil.
type app struct {
	files    *bucket
	messages *queue
	rows     *table
	trouble  trouble
	began    time.Time
	host     string
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

func (a *app) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.page)
	mux.HandleFunc("GET /healthz", a.trouble.health)
	for path, do := range map[string]func(context.Context, string) (string, error){
		"/files": a.files.put, "/messages": a.messages.send, "/messages/receive": a.messages.receive,
		"/rows":  a.rows.add,
		"/crash": a.trouble.crash, "/leak": a.trouble.leak, "/probe": a.trouble.failProbe, "/refused": a.files.refused,
	} {
		mux.HandleFunc("POST "+path, a.act(path, do))
	}
	return http.NewCrossOriginProtection().Handler(mux)
}

// mostText bounds a note, in bytes.
const mostText = 10_000

// act does what a form asks for, and shows the page with the outcome.
func (a *app) act(path string, do func(ctx context.Context, text string) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mostText)
		text := r.PostFormValue("text")
		ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
		defer cancel()
		said, err := do(ctx, text)
		status := http.StatusOK
		if err != nil {
			said, status = err.Error(), http.StatusBadGateway
		}
		log.Printf("%s: %q", path, said)
		a.show(w, r, status, said)
	}
}

func (a *app) page(w http.ResponseWriter, r *http.Request) { a.show(w, r, http.StatusOK, "") }

// view is what the page shows.
type view struct {
	Host, Said            string
	Failed                bool
	Up                    time.Duration
	Files, Messages, Rows card
	Leaked                int
	Failing               bool
}

// card is a binding: its name, what is in it, and what went wrong when it was asked for.
type card struct {
	Name  string // empty: it is not bound
	Note  string
	Lines []string
	Err   error
}

func (a *app) show(w http.ResponseWriter, r *http.Request, status int, said string) {
	ctx, cancel := context.WithTimeout(r.Context(), askTimeout)
	defer cancel()
	leaked, failing := a.trouble.state()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
	w.WriteHeader(status)
	err := pageTemplate.Execute(w, view{
		Host: a.host, Said: said, Failed: status != http.StatusOK, Up: time.Since(a.began).Round(time.Second),
		Files: a.files.card(ctx), Messages: a.messages.card(ctx), Rows: a.rows.card(ctx),
		Leaked: leaked, Failing: failing,
	})
	if err != nil {
		log.Print(err)
	}
}
