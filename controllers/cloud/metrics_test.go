package cloud

import (
	"os"
	"regexp"
	"testing"
)

func TestEveryServiceThatIsCalledIsCounted(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sdks := regexp.MustCompile(`(?m)^\tgithub\.com/aws/aws-sdk-go-v2/service/[a-z0-9]+ v[0-9.]+$`).FindAll(mod, -1)
	if len(sdks) != mostServices {
		t.Errorf("go.mod requires the SDKs of %d services, and the metric of calls has room for %d", len(sdks),
			mostServices)
	}
}
