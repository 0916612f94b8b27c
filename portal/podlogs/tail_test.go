package podlogs

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

func TestAReaderThatIsSlowMakesTheLogWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		r := NewTail(nil, func(context.Context) (*Lines, error) { return NewLines(in, nil), nil }, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx)
		written := make(chan int, 1)
		go func() {
			n := 0
			for ; n < 2000; n++ {
				if _, err := fmt.Fprintln(out, strings.Repeat("z", 99)); err != nil {
					break
				}
			}
			written <- n
		}()
		synctest.Wait()
		if r.size < MaxWaiting || r.size > MaxWaiting+MaxLine {
			t.Errorf("%d bytes wait for nobody", r.size)
		}
		if _, n, _, _ := r.Take(); n != (MaxWaiting+99)/100 {
			t.Errorf("took %d lines", n)
		}
		synctest.Wait()
		if r.size < MaxWaiting {
			t.Error("nothing more is read after that")
		}
		cancel()
		if n := <-written; n == 2000 {
			t.Error("the log was read to its end")
		}
	})
}
