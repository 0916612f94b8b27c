// Package portal serves the pages and the REST API.
//
// What the pages build on:
//
//   - auth.FromContext(ctx) returns the caller in every handler behind Pages.Routes (auth.Identity: Username, Groups,
//     Name, Email, Display()). Handlers of streams call auth.Alive(ctx) regularly: it returns an error when the session
//     was signed out or has ended.
//   - cluster.Cluster: Kinds, Namespaces, Can, List, Get, Events, Bindings, Providers, CheckHostname, HostnameGrant,
//     Features, Pods, PodEvents, Logs, Create, Update, Annotate, Scale, Delete and Subscribe, each for a caller. List,
//     Events and Pods return objects that are shared with the cache and must not be changed. cluster.ETag(obj) returns
//     the version of one object. Errors: *cluster.ForbiddenError (403, its text is for the caller),
//     *cluster.ChangedError (412), *cluster.UnavailableError (503), apierrors.IsNotFound, IsAlreadyExists, IsInvalid
//     and so on from the API server; never show another error's text.
//   - catalog.Catalog (ByPlural, ByName, Requestable) of catalog.Kind: Fields for the form, Columns and EndpointOf for
//     lists, Decode(form, base) and Encode(obj) between forms and objects, ToYAML and ParseYAML, and
//     catalog.FromStatus(kind, err).Place(inputs) to put the API server's errors beside their inputs.
//   - Pages is what the server needs of the HTML side; New takes one.
package portal
