/// A type that says by itself what its values look like in a URL, a form or a header.
///
/// This is an explicit choice: `CustomStringConvertible` alone isn't enough, since most descriptions are meant for people. A type
/// whose description is also its wire form needs nothing but the conformance:
///
///     extension Version: TextRepresentable {}
///
/// The text is plain; it is encoded for the place it goes to afterwards.
public protocol TextRepresentable {
    /// The value as plain text, not encoded.
    var text: String { get }
}

extension TextRepresentable where Self: CustomStringConvertible {
    /// The description, where a type declares no text of its own.
    public var text: String { description }
}
