public import Foundation

/// A text with placeholders: `%%0%%` for the argument at a position, `%%owner%%` for the one of a label.
///
/// The text is split once, when a table is compiled; a value that is put in is never looked at for placeholders again.
struct Template: Sendable, Hashable {
    /// What a template is made of.
    enum Piece: Sendable, Hashable {
        case literal(String)
        /// The position among the arguments.
        case argument(Int)
    }

    let pieces: [Piece]

    /// The whole text, when there is no placeholder in it.
    var literal: String? {
        if pieces.isEmpty { return "" }
        if pieces.count == 1, case .literal(let text) = pieces[0] { return text }
        return nil
    }

    /// The position of the argument, when one placeholder is all of the template.
    var onlyArgument: Int? {
        if pieces.count == 1, case .argument(let position) = pieces[0] { return position }
        return nil
    }

    /// The positions that the template uses.
    var arguments: Set<Int> {
        Set(pieces.compactMap { if case .argument(let position) = $0 { position } else { nil } })
    }

    init(pieces: [Piece]) {
        self.pieces = pieces
    }

    /// What stands between the marks of a text, in order.
    static func placeholders(in text: String) -> [String] {
        let parts = text.split(mark: "%%")
        return parts.indices.filter { !$0.isMultiple(of: 2) && $0 < parts.count - 1 }.map { String(parts[$0]) }
    }

    /// Splits a text.
    ///
    /// - Parameters:
    ///   - names: the arguments that may be named, in their order.
    ///   - report: told of each problem; a placeholder with a problem is left out.
    init(_ text: some StringProtocol, names: ArgumentNames, report: (TemplateProblem) -> Void) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let open = rest.range(ofMark: "%%") {
            if open.lowerBound > rest.startIndex { pieces.append(.literal(String(rest[..<open.lowerBound]))) }
            let column = text.distance(from: text.startIndex, to: open.lowerBound) + 1
            let after = rest[open.upperBound...]
            guard let close = after.range(ofMark: "%%") else {
                report(TemplateProblem(column: column, kind: .unclosed))
                rest = after[after.endIndex...]
                break
            }
            let name = String(after[..<close.lowerBound])
            switch names.resolve(name) {
            case .success(let position): pieces.append(.argument(position))
            case .failure(let kind): report(TemplateProblem(column: column, kind: kind))
            }
            rest = after[close.upperBound...]
        }
        if !rest.isEmpty { pieces.append(.literal(String(rest))) }
        self.pieces = pieces
    }
}

/// What is wrong with a placeholder.
struct TemplateProblem: Error, Sendable, Hashable {
    enum Kind: Error, Sendable, Hashable {
        /// `%%` without a second one.
        case unclosed
        /// Nothing between the marks, or no name.
        case noName(String)
        /// No argument has that label.
        case unknown(String, suggestion: String?)
        /// There are fewer arguments.
        case outOfRange(String, arity: Int)
        /// Several arguments have that label.
        case ambiguous(String)
    }

    /// Where the placeholder begins, counted from 1.
    let column: Int
    let kind: Kind
}

/// Makes the URL of a call from its bound parts, where a service needs it otherwise than by the book.
public protocol URLBuilder: Sendable {
    /// The URL of a call.
    ///
    /// - Throws: any error; the call fails with it.
    func url(from parts: URLParts) throws -> URL
}

/// The parts of a call's URL with the arguments bound in and encoded.
public struct URLParts: Sendable, Hashable {
    /// The service root without a query.
    public let root: String
    /// The relative path, percent-encoded.
    public let path: String
    /// The query of the root and of the endpoint, percent-encoded, without the question mark; empty without one.
    public let query: String
    /// The route as declared.
    public let route: String

    /// The URL by the book: exactly one slash between root and path, the query behind.
    public func standardURL() throws -> URL {
        let joined = URLText.joined(root, path)
        guard let url = URL(string: query.isEmpty ? joined : joined + "?" + query) else {
            throw InvalidRequest(message: "\"\(SecretMask.text(ofURL: joined))\" is no URL: check the service root and the template.")
        }
        return url
    }
}

extension URLParts: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The parts as one, secrets masked.
    public var description: String {
        let joined = URLText.joined(root, path)
        return SecretMask.text(ofURL: query.isEmpty ? joined : joined + "?" + query)
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The URL with its secrets masked, and the route: not even a dump shows them.
    public var customMirror: Mirror { Mirror(self, children: ["url": description, "route": SecretMask.text(ofURL: route)]) }
}
