package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// table is the table of notes in the RDSInstance of the binding "rows". The folder of the binding has a file for each
// of its keys; they change when the password is rotated, and are read for each connection.
type table struct{ folder string }

// newTable returns the table in the database that is bound, nil if none is.
func newTable(env func(string) string) *table {
	t := &table{filepath.Join(env("SERVICE_BINDING_ROOT"), "rows")}
	if _, err := os.Stat(t.folder); err != nil {
		return nil
	}
	return t
}

func (t *table) read(key string) string {
	text, err := os.ReadFile(filepath.Join(t.folder, filepath.Base(key)))
	if err != nil {
		return "" // the database then says what is missing
	}
	return strings.TrimSpace(string(text))
}

// with connects to the database, and calls the function with the table there. It verifies the server's certificate with
// the authorities of the image.
func (t *table) with(ctx context.Context, do func(*pgx.Conn) error) error {
	config, err := pgx.ParseConfig("sslmode=verify-full host=" + t.read("host"))
	if err != nil {
		return fmt.Errorf("read the binding: %w", err)
	}
	config.User, config.Password, config.Database = t.read("username"), t.read("password"), t.read("database")
	port, err := strconv.ParseUint(t.read("port"), 10, 16)
	if err != nil {
		return fmt.Errorf("read the port in the binding: %w", err)
	}
	config.Port = uint16(port)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS notes (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, said text NOT NULL, at timestamptz NOT NULL DEFAULT now())`)
	if err != nil {
		return err
	}
	return do(conn)
}

func (t *table) add(ctx context.Context, text string) (string, error) {
	if t == nil {
		return "", errNotBound
	}
	return "added a row", t.with(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "INSERT INTO notes (said) VALUES ($1)", text)
		return err
	})
}

func (t *table) card(ctx context.Context) card {
	if t == nil {
		return card{}
	}
	c := card{Name: t.read("username") + " in " + t.read("database"), Note: t.age()}
	c.Err = t.with(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT said FROM notes ORDER BY id DESC LIMIT $1", mostLines)
		if err != nil {
			return err
		}
		c.Lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return c
}

// age says how old the password is.
func (t *table) age() string {
	info, err := os.Stat(filepath.Join(t.folder, "password"))
	if err != nil {
		return "the binding has no password"
	}
	return fmt.Sprintf("its password came %s ago", time.Since(info.ModTime()).Round(time.Second))
}
