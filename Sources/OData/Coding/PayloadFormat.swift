/// The spelling of values in a payload.
public struct PayloadFormat: Sendable, Hashable {
    /// The version of the protocol.
    public var version: ODataVersion
    /// Whether `Int64` and `Decimal` are written as strings, for readers with numbers of 53 bits (JSON Format, section 3.2). The
    /// `Content-Type` must declare this, as ``contentType`` does. V2 always writes strings.
    public var isIEEE754Compatible: Bool

    /// The spelling of links to existing entities in version 2.
    public var v2Bindings: V2BindingSpelling

    /// Creates a format.
    public init(version: ODataVersion = .v4, isIEEE754Compatible: Bool = false, v2Bindings: V2BindingSpelling = .deferred) {
        self.version = version
        self.isIEEE754Compatible = isIEEE754Compatible
        self.v2Bindings = v2Bindings
    }

    /// The media type of payloads in this format.
    public var contentType: String {
        guard version != .v2 else { return "application/json" }
        let text = version >= .v401 ? "application/json;metadata=minimal" : "application/json;odata.metadata=minimal"
        return isIEEE754Compatible ? text + ";IEEE754Compatible=true" : text
    }

    /// Returns the name of control information: `@odata.type`, or `@type` from 4.01 on. For a property, it follows the property's name.
    public func controlName(_ name: String) -> String {
        version >= .v401 ? "@" + name : "@odata." + name
    }

    /// Returns a type's name for control information: `#Sales.Person`. In 4.01, primitive types have no `#`.
    public func typeReference(_ name: String) -> String {
        version >= .v401 && !name.contains(".") ? name : "#" + name
    }

    /// Whether wide numbers are written as strings.
    var hasTextNumbers: Bool { version == .v2 || isIEEE754Compatible }
}

/// The spelling of links to existing entities in version 2. Services differ, as the JSON format of version 2 doesn't define one.
public enum V2BindingSpelling: String, Sendable, Hashable, CaseIterable {
    /// `{"__deferred":{"uri":"…"}}`, like relations that weren't expanded: always a link, so that no service creates a new entity from it.
    /// Olingo supports it for one entity per relation.
    case deferred = "__deferred"
    /// `{"__metadata":{"uri":"…"}}`, required by Microsoft's services and SAP SuccessFactors. Others, such as Olingo, create a new entity
    /// without properties from it.
    case metadata = "__metadata"
}
