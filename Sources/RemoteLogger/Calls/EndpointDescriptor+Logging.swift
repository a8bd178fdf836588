public import WebServiceClient

extension EndpointDescriptor {
    /// Logs calls of the endpoint at a level, or not at all: `.logging(.debug)`, `.logging(.off)`. A ``CallLogger`` among the client's
    /// interceptors reads it.
    public func logging(_ attribute: LoggingAttribute) -> EndpointDescriptor {
        self.attribute(attribute)
    }
}
