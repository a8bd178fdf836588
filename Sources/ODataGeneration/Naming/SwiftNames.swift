/// The rules that turn a name of a service's model into a name in Swift.
///
/// A result depends only on the name itself, so it stays the same when the service adds other names. ``NameScope`` resolves collisions.
enum SwiftNames {
    /// Returns the name of a type or a namespace, with an uppercase first letter.
    static func typeName(_ wire: String) -> String {
        let name = identifier(wire)
        let marks = name.prefix { $0 == "_" }
        guard let first = name.dropFirst(marks.count).first else { return name }
        let upper = String(first).uppercased()
        // The uppercase form of some letters, such as ß, has several characters. These letters stay lowercase.
        return upper.count == 1 ? marks + upper + name.dropFirst(marks.count + 1) : name
    }

    /// Returns the name of a property, a parameter, a method or a member of an enumeration: with a lowercase first letter.
    ///
    /// If the name begins with several uppercase letters, all become lowercase except the one that begins the next word: `ID` is `id`,
    /// `URLText` is `urlText`, and `ADDRESS_ID` is `address_ID`.
    static func memberName(_ wire: String) -> String {
        let name = identifier(wire)
        let marks = name.prefix { $0 == "_" }
        let rest = name.dropFirst(marks.count)
        var run = rest.prefix(while: \.isUppercase)
        if run.count > 1, let next = rest.dropFirst(run.count).first, next.isLowercase { run = run.dropLast() }
        return marks + run.lowercased() + rest.dropFirst(run.count)
    }

    /// Returns a name with `_` in place of all characters that aren't allowed in an identifier.
    static func identifier(_ wire: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in wire.unicodeScalars { scalars.append(isAllowed(scalar) ? scalar : "_") }
        if let first = scalars.first, !isAllowed(first: first) { scalars.insert("_", at: scalars.startIndex) }
        // A single `_` isn't a name.
        while scalars.count < 2, scalars.allSatisfy({ $0 == "_" }) { scalars.append("_") }
        return String(scalars)
    }

    /// Returns whether a text is an identifier that can be written plainly or in backticks.
    static func isIdentifier(_ name: String) -> Bool {
        !name.isEmpty && name != "_" && identifier(name) == name
    }

    // ASCII is compared directly, because nearly all names consist of it.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: !scalar.isASCII && scalar.properties.isXIDContinue
        }
    }

    private static func isAllowed(first scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "0"..."9": false
        default: scalar.isASCII || scalar.properties.isXIDStart
        }
    }

    /// Returns a name for its declaration: reserved words are in backticks.
    static func declared(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    /// Returns a literal of a string.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case _ where scalar.value < 0x20 || isInvisible(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Returns a text for comments, without characters that are invisible or break lines.
    static func visible(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !isInvisible($0) }))
    }

    /// Returns whether a character is invisible, breaks lines or changes the order of other characters on screen.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        default: false
        }
    }

    /// Words that must be in backticks where they are declared.
    static let keywords: Set<String> = [
        "actor", "Any", "as", "associatedtype", "async", "await", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit",
        "do", "each", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "inout",
        "internal", "is", "let", "nil", "open", "operator", "package", "precedencegroup", "private", "protocol", "public", "repeat",
        "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
        "where", "while",
    ]

    /// Names with a special meaning even in backticks, or after a dot.
    static let unusable: Set<String> = ["init", "self", "Self", "Type", "Protocol"]

    /// The members of `ODataItem`, which would hide a property of the same name. A test compares them with the sources.
    static let itemMembers: Set<String> = [
        "as", "debugDescription", "encode", "hash", "hashValue", "metadata", "odataValue", "record", "seen", "set",
        "undeclared", "writable",
    ]

    /// The static members of `OpenMember` and `OpenFlags`, and the cases of `Optional`. A member of an enumeration can't have these names.
    static let memberStatics: Set<String> = ["known", "none", "propertySample", "some"]

    /// The members of `ODataClient`. A set or an operation can't have these names. A test compares them with the sources.
    static let clientMembers: Set<String> = [
        "activity", "addReference", "adopt", "asksForIEEE754Compatible", "batch", "batching", "call", "calls", "cancelAll",
        "changes", "checksItems", "circuits", "configuration", "configure", "content", "contentIfPresent", "count", "create",
        "createMedia", "customMirror", "debugDescription", "defaults", "deferredBatch", "delete", "deleteContent", "describe",
        "description", "download", "dryRun", "dynamic", "endpoints", "entities", "entity", "environment", "evaluate", "fetch",
        "fetchIfPresent", "follow", "foreignLinks", "http", "invoke", "job", "longQueries", "maxPageSize", "metadataLevel", "model",
        "openContent", "page", "pages", "prefetchesPages", "printer", "profile", "profileHistory", "queue", "removeReference",
        "replace", "replaceProfile", "responses", "rollBackProfile", "send", "sendsRepeatableRequests", "serviceDocument",
        "session", "set", "setContent", "setRawValue", "setReference", "shutdown", "start", "stream", "streamsPages",
        "tunnelsMethods", "types", "update", "upload", "upsert", "userInfo", "v2Bindings", "verify", "writeVerification",
    ]

    /// The names that types and namespaces can't have, in addition to the name of the service: the modules that the generated code uses.
    static let reservedTypes: Set<String> = ["OData", "Swift", "Foundation", "WebServiceClient", "Any"]

    /// The declarations that the enumeration of each service has.
    static let serviceMembers: Set<String> = ["SchemaModel", "SchemaTag", "schema"]

    /// The Swift types that the generated code uses. They are written with their module if the service has a type or a namespace of the
    /// same name.
    static let swiftTypes: Set<String> = [
        "Bool", "Int8", "UInt8", "Int16", "Int32", "Int64", "Double", "Float", "String", "Codable", "CodingKey", "Hashable", "Sendable",
    ]

    /// Type names with another meaning in the generated extensions and in the client: generic parameters, associated types, and nested
    /// types of the types that the code extends or derives from. They would hide a service with such a name.
    private static let innerTypes: Set<String> = [
        "ArrayLiteralElement", "Configuration", "Element", "EndpointDefaults", "ItemOperandModel", "Model", "RawValue", "Tag", "WebService",
    ]

    /// Returns why a service can't have a name, as the end of a sentence; `nil` if it can.
    static func refusal(ofService name: String) -> String? {
        if keywords.contains(name) || unusable.contains(name) { return "a word that Swift reserves" }
        let taken = [reservedTypes, swiftTypes, serviceMembers, innerTypes].contains { $0.contains(name) }
        return taken ? "as a module or type that the code uses" : nil
    }
}
