package cloud

import (
	"errors"
	"fmt"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// advice is the reason and the text for a class of errors: what can be done, and by whom.
type advice struct {
	reason string
	again  time.Duration // when Portico retries; 0: after an edit, and at least every 5 minutes
	text   string
}

// byItself ends advice for people who have no means to notify Portico.
const byItself = "; Portico tries again by itself, at least every 5 minutes"

// advices applies to all codes of a class; classes without advice are retried with back-off.
var advices = map[errorClass]advice{
	throttled: {v1alpha1.ReasonThrottled, 5 * time.Second, "AWS limits the rate of calls; Portico slows down and goes on"},
	busy:      {v1alpha1.ReasonBusy, 10 * time.Second, "AWS is still at work on this resource; Portico tries again"},
	denied:    {v1alpha1.ReasonAccessDenied, 0, "The provider's identity lacks this permission: ask a platform admin to grant it" + byItself},
	notReady:  {v1alpha1.ReasonAccountNotReady, 0, "The account cannot use this service of AWS: ask a platform admin to enable it in AWS" + byItself},
	badCredentials: {
		v1alpha1.ReasonCredentialsRejected, 0,
		"AWS does not accept the provider's credentials: ask a platform admin to renew them" + byItself,
	},
	clock: {
		v1alpha1.ReasonClockSkew, 0,
		"AWS takes no call whose time is more than 15 minutes off: ask a platform admin to check the clock of the " +
			"machine that the operator runs on" + byItself,
	},
	unverified: {
		v1alpha1.ReasonIdentityNotVerified, 15 * time.Second,
		"AWS could not verify the operator's identity token. That often passes; if it stays, ask a platform admin to " +
			"check the cluster's OIDC provider in IAM, and that AWS can reach its keys",
	},
	invalid: {v1alpha1.ReasonInvalidSpec, 0, "Change the spec; Portico tries again at once after an edit"},
	lacking: {
		v1alpha1.ReasonInvalidSpec, 0,
		"The server does not have this function: leave the setting that the call is about out of the spec, or use a " +
			"provider whose server has it; Portico tries again at once after an edit",
	},
	quota: {v1alpha1.ReasonQuotaExceeded, 0, "The account has reached a limit: delete what is not needed, or ask a platform admin to raise the quota"},
}

const (
	subscribe = "The account is not subscribed to this service of AWS, or was opened a short while ago: ask a " +
		"platform admin to activate the service in AWS, and if the account is new to complete its sign-up" + byItself
	askSupport = ": ask a platform admin to take it up with AWS Support" + byItself
	keyOff     = "The KMS key is disabled, or about to be deleted: ask the owner of the key to enable it, or name " +
		"another key (databases and machines take one only before they are created); Portico tries again at once " +
		"after an edit, and by itself at least every 5 minutes"
	keyGone = "AWS does not find the KMS key in this region, or does not let the provider's identity see it: name " +
		"another key (databases and machines take one only before they are created), or ask a platform admin to " +
		"check the key's policy; Portico tries again at once after an edit"
	keyUsage = "The KMS key is not one for this use: name a symmetric key for encryption (databases and machines " +
		"take one only before they are created); Portico tries again at once after an edit"
	fewerTags = "AWS takes 50 tags of a resource, those of Portico and of the provider included: leave some out of " +
		"spec.tags, or ask a platform admin to set fewer for all; Portico tries again at once after an edit"
	tagPolicy = "The organization's tag policy does not allow these tags: change spec.tags, or ask a platform admin " +
		"what the policy asks for; Portico tries again at once after an edit"
)

// stsOff is the STS error code for a region in which it is not activated for the account.
const stsOff = "RegionDisabledException"

// codeAdvice overrides the advice of the class for single codes, where that would mislead.
var codeAdvice = map[string]string{
	"OptInRequired": subscribe, "NotSignedUp": subscribe, "SubscriptionRequiredException": subscribe,
	"KMSOptInRequired": subscribe, "KmsOptInRequired": subscribe,
	"PendingVerification": "AWS is still verifying the account, which takes minutes to hours: ask a platform admin " +
		"to look for a message of AWS to the account's owner if it stays" + byItself,
	"Blocked":           "AWS has blocked the account" + askSupport,
	"AccountProblem":    "AWS says that something is wrong with the account, such as its billing" + askSupport,
	"AllAccessDisabled": "AWS has disabled all access to this resource" + askSupport,
	"UnauthorizedAccess": "In China AWS serves no bucket of an account without an ICP licence: ask a platform admin " +
		"to get one for the account" + byItself,
	stsOff: "AWS STS is off in the provider's region: ask a platform admin to enable the region in the account, or " +
		"to activate STS for it in IAM's account settings" +
		byItself,

	"DeleteConflict": "Somebody has attached a policy or an instance profile to the role: ask a platform admin to " +
		"detach it in AWS" + byItself,

	"KMS.DisabledException": keyOff, "KMSDisabled": keyOff, "KmsDisabled": keyOff, "KMS.InvalidStateException": keyOff,
	"KMSInvalidState": keyOff, "KMSInvalidStateException": keyOff,
	"KmsInvalidState": keyOff, "InvalidKMSKey.InvalidState": keyOff,
	"KMS.NotFoundException": keyGone, "KMSNotFound": keyGone, "KmsNotFound": keyGone,
	"KMSKeyNotAccessibleFault":     keyGone,
	"KMS.InvalidKeyUsageException": keyUsage, "KmsInvalidKeyUsage": keyUsage,

	"TooManyTagsException": fewerTags, "TagLimitExceeded": fewerTags,
	"TagPolicy": tagPolicy, "TagPolicyException": tagPolicy, "TagPolicyViolation": tagPolicy,

	"IDPRejectedClaim": "AWS does not take the operator's identity token: ask a platform admin to check " +
		"the cluster's OIDC provider in IAM, its audience and the role's trust policy" + byItself,
	"PackedPolicyTooLarge": "The tags and policies of the role's session are too large together: ask a " +
		"platform admin to shorten what the AWSProvider's roles are assumed with" + byItself,
	"MalformedPolicyDocument": "AWS does not understand the policy of the role's session: ask a platform admin " +
		"to check the AWSProvider's roles" + byItself,
	"BucketHasAccessPointsAttached": "Somebody has made access points for the bucket: delete them in AWS, or ask a " +
		"platform admin to" + byItself,
}

// adviceFor returns the advice for err; false if it is only retried.
func adviceFor(err error) (advice, bool) {
	class := classOf(err)
	a, known := advices[class]
	if text := codeAdvice[Code(err)]; text != "" {
		a.text = text
	}
	region, ok := errors.AsType[*regionError](err)
	switch {
	case Code(err) == stsOff:
		a.reason = v1alpha1.ReasonRegionNotEnabled
	case ok && class == regionOff:
		return advice{reason: v1alpha1.ReasonRegionNotEnabled, text: fmt.Sprintf(
			"The region %s is not enabled in account %s: ask a platform admin to enable it in AWS, or choose another "+
				"region, while nothing is created", region.region, region.account) + byItself}, true
	case ok && class == badCredentials:
		a.text = fmt.Sprintf("AWS does not accept the provider's credentials in the region %s: ask a platform admin "+
			"to renew them, or to enable the region in the account, for AWS has it off by default",
			region.region) + byItself
	}
	return a, known
}
