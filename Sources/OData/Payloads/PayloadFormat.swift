/// How values are spelled in a payload.
public struct PayloadFormat: Sendable, Hashable {
    /// The version of the protocol.
    public var version: ODataVersion
    /// Whether `Int64` and `Decimal` are written as texts, which readers with numbers of 53 bits want (JSON Format, section 3.2). The
    /// `Content-Type` has to say so; V2 writes them as texts in any case.
    public var isIEEE754Compatible: Bool

    /// A format.
    public init(version: ODataVersion = .v4, isIEEE754Compatible: Bool = false) {
        self.version = version
        self.isIEEE754Compatible = isIEEE754Compatible
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
