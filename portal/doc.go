// Package portal serves the pages and the REST API.
//
// What the pages build on:
//
//   - auth.FromContext(ctx) returns the caller in every handler behind Pages.Routes (auth.Identity: Username, Groups,
//     Name, Email, Display()). Handlers of streams call auth.Alive(ctx) regularly: it returns an error when the session
//     was signed out or has ended.
//   - cluster.Cluster is a struct of parts, each for a caller: Rights (Can, Require, Namespaces), Objects (List, Get,
//     Events, Overview), Teams (Bindings, Providers, Quotas, Members), Hostnames, Write (Create, Edit, Patch, Delete),
//     Pods (List, Events, Logs), People (Secrets, Reveal), Operator (Checks, Offers, History), Sessions, and Changes to
//     subscribe to. Objects.List, Objects.Events and Pods.List return objects that are shared with the cache and must
//     not be changed. write.ETag(obj) returns the version of one object. Errors: *failure.ForbiddenError (403, its text
//     is for the caller), *failure.ChangedError (412), *failure.UnavailableError (503), apierrors.IsNotFound,
//     IsAlreadyExists, IsInvalid and so on from the API server; never show another error's text.
//   - catalog.Catalog (ByPlural, ByName, Requestable) of catalog.Kind: Fields for the form, Columns and EndpointOf for
//     lists, Decode(form, base) and Encode(obj) between forms and objects, ToYAML and ParseYAML, and
//     catalog.FromStatus(kind, err).Place(inputs) to put the API server's errors beside their inputs.
//   - Pages is what the server needs of the HTML side; New takes one.
package portal
