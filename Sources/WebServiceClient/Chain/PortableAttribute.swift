// Attributes that leave the program as data.

/// An attribute of this library that descriptions contain as text, and that is read from that text.
///
/// The types are listed in `AttributeCatalog`. OpenAPI documents of exported tables, profiles and stored calls use that list.
package protocol DescribedAttribute: EndpointAttribute, Hashable {
    /// The first words of the texts, up to a blank, a dot or a parenthesis. The default is the name of the type. A type
    /// without first words isn't read from texts; its file has the reason.
    static var firstWords: [String] { get }

    /// Reads the text that descriptions have for a value.
    ///
    /// It may be lenient: `AttributeCatalog` refuses the value if its own text isn't exactly this one.
    ///
    /// - Returns: `nil` if the text represents no value of the type.
    init?(described text: String)

    /// The least trusted source that may set this value. The default is a profile.
    var leastTrustedSource: AttributeSource { get }
}

extension DescribedAttribute {
    package static var firstWords: [String] { [String(describing: Self.self)] }
    package var leastTrustedSource: AttributeSource { .profile }
}

extension DescribedAttribute where Self: RawRepresentable, RawValue == String {
    /// Reads the name of an enumeration's case, after that of the enumeration.
    package init?(described text: String) {
        guard let name = text.inside("\(Self.self).", ""), let value = Self(rawValue: String(name)) else { return nil }
        self = value
    }
}

/// An attribute that stored calls contain, too.
package protocol PortableAttribute: DescribedAttribute, Codable {}

/// An attribute that only matters while arguments are bound. A stored call, whose arguments are bound, doesn't need it.
protocol BindingAttribute: DescribedAttribute {}

/// A source of attributes, the most trusted one first. Values that permit more repetitions, or switch off a check or a limit, are for
/// trusted sources only: an endpoint's attribute overrides that of the client.
package enum AttributeSource: Comparable, Sendable {
    /// The code of the program.
    case program
    /// A table that this library exported as an OpenAPI document.
    case exportedTable
    /// A profile, which may come from the network.
    case profile
}
