package sns

import "github.com/portico-platform/portico/controllers/aws/attributes"

// Deleted finds topics that were kept.
var Deleted = attributes.Deleted(
	"sns", attributes.Naming{List: Topics, Longest: longest, Name: "topicName", FIFO: "fifoTopic"})
