import Foundation

/// A text with placeholders: `%%0%%` for the argument at a position, `%%owner%%` for the argument with a label.
///
/// The text is split once, when a table is compiled; inserted values are never searched for placeholders.
struct Template: Sendable, Hashable {
    /// A part of a template.
    enum Piece: Sendable, Hashable {
        case literal(String)
        /// The position of an argument.
        case argument(Int)
    }

    let pieces: [Piece]

    /// The whole text, if it has no placeholders.
    var literal: String? {
        if pieces.isEmpty { return "" }
        if pieces.count == 1, case .literal(let text) = pieces[0] { return text }
        return nil
    }

    /// The position of the argument, if the template is a single placeholder.
    var onlyArgument: Int? {
        if pieces.count == 1, case .argument(let position) = pieces[0] { return position }
        return nil
    }

    /// The argument positions in the template.
    var arguments: Set<Int> {
        Set(pieces.compactMap { if case .argument(let position) = $0 { position } else { nil } })
    }

    init(pieces: [Piece]) {
        self.pieces = pieces
    }

    /// The names or positions in the closed placeholders of a text, in order and unchecked.
    static func placeholders(in text: String) -> [String] {
        let parts = text.split(mark: "%%")
        return parts.indices.filter { !$0.isMultiple(of: 2) && $0 < parts.count - 1 }.map { String(parts[$0]) }
    }

    /// Splits a text.
    ///
    /// - Parameters:
    ///   - names: The arguments that placeholders may refer to, by label or position.
    ///   - report: Called with each problem; a placeholder with a problem is omitted.
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

/// The arguments of a method that a descriptor can refer to: the key's labels without ignored ones.
struct ArgumentNames: Sendable, Hashable {
    let labels: [String]

    init(_ name: MethodName, ignoring ignored: Set<String>) {
        labels = name.labels.filter { !ignored.contains($0) }
    }

    var count: Int { labels.count }

    /// The name of the argument at a position, for messages.
    func description(of position: Int) -> String {
        guard labels.indices.contains(position) else { return "argument \(position)" }
        return labels[position] == "_" ? "argument \(position)" : "argument \"\(labels[position])\""
    }

    /// Returns the argument position that a placeholder's text refers to.
    func resolve(_ text: String) -> Result<Int, TemplateProblem.Kind> {
        guard !text.isEmpty, !text.contains(where: { $0.isWhitespace || $0 == "/" || $0 == "%" || $0 == "{" }) else {
            return .failure(.noName(text))
        }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            guard let position = Int(text), position < count else { return .failure(.outOfRange(text, arity: count)) }
            return .success(position)
        }
        let positions = labels.indices.filter { labels[$0] == text }
        guard let position = positions.first, text != "_" else {
            return .failure(.unknown(text, suggestion: NearestName.of(text, among: labels.filter { $0 != "_" })))
        }
        return positions.count > 1 ? .failure(.ambiguous(text)) : .success(position)
    }

    func resolve(_ argument: EndpointArgument) -> Result<Int, TemplateProblem.Kind> {
        switch argument.reference {
        case .position(let position):
            (0..<count).contains(position) ? .success(position) : .failure(.outOfRange("\(position)", arity: count))
        case .label(let label):
            Int(label) == nil ? resolve(label) : .failure(.unknown(label, suggestion: nil))
        }
    }
}

/// A problem of a placeholder.
struct TemplateProblem: Error, Sendable, Hashable {
    enum Kind: Error, Sendable, Hashable {
        /// A `%%` without a closing `%%`.
        case unclosed
        /// An empty or invalid name between the marks.
        case noName(String)
        /// No argument has that label.
        case unknown(String, suggestion: String?)
        /// No argument has that position; positions count from 0.
        case outOfRange(String, arity: Int)
        /// Several arguments have that label.
        case ambiguous(String)
    }

    /// The column of the placeholder, counted from 1.
    let column: Int
    let kind: Kind
}
