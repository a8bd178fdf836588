/// Clients import one module: requests, responses, transports and trust come with it.
@_exported public import HTTPTransport
