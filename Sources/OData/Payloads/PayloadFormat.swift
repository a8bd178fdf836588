/// How values are spelled in a payload.
public struct PayloadFormat: Sendable, Hashable {
    /// The version of the protocol.
    public var version: ODataVersion
    /// Whether `Int64` and `Decimal` are written as texts, which readers with numbers of 53 bits want (JSON Format, section 3.2). The
    /// `Content-Type` has to say so; V2 writes them as texts in any case.
    public var isIEEE754Compatible: Bool

    /// How version 2 writes existing entities that a new one is related to.
    public var v2Bindings: V2BindingSpelling

    /// A format.
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

    /// The name of control information: `@odata.type`, and `@type` from 4.01 on. For a property the name is the property's with this behind it.
    public func controlName(_ name: String) -> String {
        version >= .v401 ? "@" + name : "@odata." + name
    }

    /// A type's name as control information has it: `#Sales.Person`; in 4.01 primitive types stand without `#`.
    public func typeReference(_ name: String) -> String {
        version >= .v401 && !name.contains(".") ? name : "#" + name
    }

    /// Whether wide numbers are written as texts.
    var hasTextNumbers: Bool { version == .v2 || isIEEE754Compatible }
}

/// How an existing entity is written in version 2 where a new one is related to it. Services differ, as the JSON format of version 2 defines
/// it for neither.
public enum V2BindingSpelling: String, Sendable, Hashable, CaseIterable {
    /// `{"__deferred":{"uri":"…"}}`, as relations come that weren't expanded: a link and never an entity, so that no service makes a new one of it.
    /// Olingo binds by it, one entity for each relation.
    case deferred = "__deferred"
    /// `{"__metadata":{"uri":"…"}}`, as Microsoft's services and SAP SuccessFactors want it. Others, Olingo among them, take it for a new entity
    /// without properties.
    case metadata = "__metadata"
}
