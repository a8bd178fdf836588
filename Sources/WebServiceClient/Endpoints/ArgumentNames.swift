/// The arguments of a method that a descriptor can name: the key's labels without those that are ignored.
struct ArgumentNames: Sendable, Hashable {
    let labels: [String]

    init(_ name: MethodName, ignoring ignored: Set<String>) {
        labels = name.labels.filter { !ignored.contains($0) }
    }

    var count: Int { labels.count }

    /// How a message names the argument at a position.
    func description(of position: Int) -> String {
        guard labels.indices.contains(position) else { return "argument \(position)" }
        return labels[position] == "_" ? "argument \(position)" : "argument \"\(labels[position])\""
    }

    /// The position that a placeholder's text means.
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
