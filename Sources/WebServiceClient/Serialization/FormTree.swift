import Foundation

/// The fields of a form as a tree: `a[b][c]=1` is `1` in `c` in `b` in `a`; `a=1&a=2`, `a[]=1&a[]=2` and `a[0]=1&a[1]=2` are two values.
struct FormTree {
    private(set) var texts: [String] = []
    /// The value before it was split into ``texts``, if one field holds them all: it may be one text that contains separators.
    private(set) var whole: String?
    private(set) var children: [String: FormTree] = [:]
    /// The names of the children in order of arrival.
    private(set) var names: [String] = []
    /// Whether one of the fields here is the written form of nil.
    private var holdsNil = false
    /// Whether this is one of several values of a name: an element, which isn't itself a list of one. Otherwise, recursive types would
    /// decode it for ever.
    private var isElement = false

    init() {}

    /// Creates the tree of an encoded form (URL standard, application/x-www-form-urlencoded parsing).
    ///
    /// - Parameter fields: Defines how nested names, lists and nil are written.
    /// - Throws: ``SerializationError`` if bytes aren't valid in the charset, or the nesting is too deep.
    init(_ form: Data, encoding: TextEncoding, fields: FieldReflection = FieldReflection()) throws {
        for pair in form.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = try Self.text(pair[..<(equals ?? pair.endIndex)], encoding)
            let path = fields.nesting == .dots ? Self.dottedPath(of: name) : Self.path(of: name)
            guard path.count <= fields.depthLimit + 2 else {
                throw SerializationError(
                    .structure,
                    "The form's field “\(SerializationError.excerpt(name))” is nested more than \(fields.depthLimit) deep: raise the "
                        + "FieldReflection's depthLimit.")
            }
            let value = equals.map { pair[($0 + 1)...] } ?? Data()
            let isNil = fields.missing == .nameOnly && equals == nil || fields.missing == .empty && value.isEmpty
            let whole = try Self.text(value, encoding)
            let members: [String] =
                switch fields.arrays {
                case .repeatedKey, .brackets: [whole]
                // Commas inside a value are encoded; commas between members aren't.
                case .comma:
                    try value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { try Self.text($0, encoding) }
                // Other separators are encoded, too.
                case .space: whole.split(mark: " ").map(String.init)
                case .pipe: whole.split(mark: "|").map(String.init)
                }
            insert(members, whole: whole, isNil: isNil, at: path[...])
        }
    }

    /// Whether this is nil: no field, or a field that represents nil.
    var isNil: Bool { texts.count <= 1 && children.isEmpty && (texts.isEmpty || holdsNil) }

    /// Inserts the values of a field at a path. A trailing `[]` appends them; an inner `[]` is an element, and a repeated field begins the
    /// next one.
    private mutating func insert(_ members: [String], whole: String, isNil: Bool, at path: ArraySlice<String>) {
        guard let name = path.first, !(name.isEmpty && path.count == 1 && path.startIndex > 0) else {
            self.whole = texts.isEmpty ? whole : nil
            texts += members
            holdsNil = isNil
            return
        }
        let rest = path.dropFirst()
        var key = name
        if name.isEmpty, path.startIndex > 0 {
            let last = names.last ?? "0"
            let isTaken = children[last]?.holds(rest) ?? false
            // The largest index has no successor: the value then joins the existing ones.
            let (next, overflows) = (Int(last) ?? 0).addingReportingOverflow(1)
            key = isTaken && !overflows ? String(next) : last
        }
        if children[key] == nil { names.append(key) }
        children[key, default: FormTree()].insert(members, whole: whole, isNil: isNil, at: rest)
    }

    /// Whether this exact path already has a value.
    private func holds(_ path: ArraySlice<String>) -> Bool {
        guard let name = path.first else { return !texts.isEmpty }
        return !name.isEmpty && (children[name]?.holds(path.dropFirst()) ?? false)
    }

    /// Splits `a[b][]` into `a`, `b` and the empty name; a name with unmatched brackets is kept unchanged.
    private static func path(of name: String) -> [String] {
        let name = name.unicodeScalars
        guard let open = name.firstIndex(of: "["), open > name.startIndex, name.last == "]" else { return [String(name)] }
        var path = [String(name[..<open])]
        var rest = name[open...]
        while rest.first == "[" {
            guard let close = rest.firstIndex(of: "]") else { return [String(name)] }
            let part = rest[rest.index(after: rest.startIndex)..<close]
            guard !part.contains("[") else { return [String(name)] }
            path.append(String(part))
            rest = rest[rest.index(after: close)...]
        }
        return rest.isEmpty ? path : [String(name)]
    }

    /// Splits `a.b` into `a` and `b`; a trailing `[]` or index of either becomes a separate part.
    private static func dottedPath(of name: String) -> [String] {
        name.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false).flatMap { path(of: String($0)) }
    }

    /// Decodes a name or value: `+` is a blank, `%` and two hexadecimal digits are a byte, any other `%` is literal.
    private static func text(_ encoded: Data, _ encoding: TextEncoding) throws -> String {
        var bytes = Data(capacity: encoded.count)
        var index = encoded.startIndex
        while index < encoded.endIndex {
            let byte = encoded[index]
            index += 1
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), index + 1 < encoded.endIndex, let high = encoded[index].hexadecimal,
                let low = encoded[index + 1].hexadecimal
            {
                bytes.append(high << 4 | low)
                index += 2
            } else {
                bytes.append(byte)
            }
        }
        return try encoding.decode(bytes)
    }
}

extension FormTree {
    /// The elements of an array: the values, or the children in index order if their names are indices.
    func elements() -> [FormTree]? {
        if isElement { return nil }
        if children.isEmpty { return texts.map { Self(text: $0) } }
        guard texts.isEmpty else { return nil }
        let indexed = names.compactMap { name in Int(name).map { (index: $0, name: name) } }
        guard indexed.count == names.count else { return nil }
        return indexed.sorted { $0.index < $1.index }.compactMap { children[$0.name] }
    }

    private init(text: String) {
        texts = [text]
        whole = text
        isElement = true
    }

    /// Follows a path of names.
    func node(at path: [String]) throws -> FormTree {
        var node = self
        for (depth, name) in path.enumerated() {
            if let child = node.children[name] {
                node = child
            } else if let index = Int(name), node.children.isEmpty || !node.texts.isEmpty, node.texts.indices.contains(index) {
                node = Self(text: node.texts[index])
            } else {
                let place = depth == 0 ? "at the top of the form" : "in “\(path.prefix(depth).joined(separator: "."))”"
                let found = node.names.sorted().prefix(10).map { "“\(SerializationError.excerpt($0, upTo: 40))”" }.joined(separator: ", ")
                throw SerializationError(
                    .root,
                    "The form has no root “\(path.joined(separator: "."))”: \(place), “\(name)” is missing; there are the fields "
                        + "\(found.isEmpty ? "none" : found).")
            }
        }
        return node
    }
}
