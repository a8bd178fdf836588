import WebServiceClient

/// Finds the types of demangled texts by asking the runtime for mangled names.
struct TypeResolver {
    private var known: [String: (any Any.Type)?] = [:]

    /// The maximum nesting of types.
    private static let depthLimit = 16

    /// Returns the type of a text such as `[Kit.Product]?`; `nil` for functions, tuples, protocols, generic parameters, and types that the
    /// runtime doesn't find by name: private types, and those inside of functions.
    mutating func type(named text: String) -> (any Any.Type)? {
        if let type = known[text] { return type }
        let type = Self.mangledNames(of: text[...], depth: 0).lazy.compactMap { _typeByName($0) }.first
        known[text] = .some(type)
        return type
    }

    /// Returns the possible mangled names of a type, since a text doesn't distinguish structures, enumerations and classes.
    private static func mangledNames(of text: Substring, depth: Int) -> [String] {
        guard depth < depthLimit else { return [] }
        func names(_ text: Substring) -> [String] { mangledNames(of: text, depth: depth + 1) }
        var text = text
        for word in ["__owned ", "__shared ", "sending "] where text.hasPrefix(word) { text = text.dropFirst(word.count) }
        if text == "()" { return ["yt"] }
        if text.hasSuffix("...") { return names(text.dropLast(3)).map { "Say\($0)G" } }
        if text.last == "?" { return names(text.dropLast()).map { $0 + "Sg" } }
        if text.first == "[", Bracketed.prefix(of: text)?.endIndex == text.endIndex {
            let parts = Bracketed.split(text.dropFirst().dropLast(), separator: " : ")
            switch parts.count {
            case 1: return names(parts[0]).map { "Say\($0)G" }
            case 2:
                let values = names(parts[1])
                return names(parts[0]).flatMap { key in values.map { "SDy\(key)\($0)G" } }
            default: return []
            }
        }
        guard text.first != "(", Bracketed.split(text, separator: " ").count == 1 else { return [] }
        return nominalNames(of: text, names)
    }

    /// Returns the mangled names of a type with a name: `Kit.Shop.Page<Swift.Int>`.
    private static func nominalNames(of text: Substring, _ names: (Substring) -> [String]) -> [String] {
        var components = Bracketed.split(text, separator: ".")
        guard components.count > 1, components.count < 8, let module = identifier(components.removeFirst()) else { return [] }
        var candidates = [module]
        var arguments: [[String]] = []
        for component in components {
            let name: Substring
            var own = [""]
            if component.last == ">", let open = component.firstIndex(of: "<") {
                name = component[..<open]
                for argument in Bracketed.split(component[open...].dropFirst().dropLast(), separator: ", ") {
                    let found = names(argument)
                    own = own.flatMap { before in found.map { before + $0 } }
                }
            } else {
                name = component
            }
            arguments.append(own)
            guard let identifier = identifier(name) else { return [] }
            candidates = candidates.flatMap { before in ["V", "O", "C"].map { before + identifier + $0 } }
            guard candidates.count <= 27 else { return [] }
            // The first type that is found is the result. A generic type isn't found without its arguments.
            if let found = candidates.first(where: { _typeByName($0) != nil }) { candidates = [found] }
        }
        guard arguments.contains(where: { $0 != [""] }) else { return candidates }
        let lists = arguments.dropFirst().reduce(arguments[0]) { lists, own in lists.flatMap { list in own.map { list + "_" + $0 } } }
        return candidates.flatMap { candidate in lists.map { "\(candidate)y\($0)G" } }
    }

    /// Returns a mangled identifier; `nil` for one with characters beyond ASCII, whose mangling is different.
    private static func identifier(_ name: Substring) -> String? {
        if name == "Swift" { return "s" }
        guard let first = name.first, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }) else { return nil }
        return first.isNumber ? nil : "\(name.utf8.count)\(name)"
    }
}

/// The record of a class that the compiler writes.
struct TypeDescriptor {
    private let start: UnsafeRawPointer

    /// Reads the record of a class; `nil` if the class wasn't declared in Swift.
    init?(of type: AnyClass) {
        // The layout of a class's metadata: kind, superclass, three words of Objective-C on Apple's systems, flags and sizes, record.
        #if canImport(ObjectiveC)
        let offset = 64
        #else
        let offset = 40
        #endif
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard let start = metadata.load(fromByteOffset: offset, as: UnsafeRawPointer?.self) else { return nil }
        self.start = start
    }

    var address: UInt { UInt(bitPattern: start) }

    private var flags: UInt32 { start.load(as: UInt32.self) }

    /// Whether the type or an enclosing type has generic parameters.
    var isGeneric: Bool { flags & 0x80 != 0 }
}
