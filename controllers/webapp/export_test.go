package webapp

// TemplateDigest is for tests of the package from outside.
var TemplateDigest = templateDigest
