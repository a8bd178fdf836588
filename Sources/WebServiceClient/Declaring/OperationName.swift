/// Makes Swift names from the names of services, such as an OpenAPI document's `operationId`s and parameters.
enum OperationName {
    /// Returns a text that is a Swift name unchanged. Otherwise, its words, which characters that a name can't contain separate, are joined in
    /// camel case: `repos/get-branch` is `reposGetBranch`, `$filter` is `filter`. Empty if the text has no word.
    static func identifier(of text: String) -> String {
        if MethodName.isIdentifier(text), text != "_" { return text }
        var result = ""
        for word in text.unicodeScalars.split(whereSeparator: { !isWordScalar($0) }) {
            let word = String(String.UnicodeScalarView(word))
            result += result.isEmpty ? word : word.prefix(1).uppercased() + word.dropFirst()
        }
        guard let first = result.unicodeScalars.first else { return "" }
        if !first.properties.isXIDStart, first != "_" { result = "_" + result }
        return MethodName.isIdentifier(result) && result != "_" ? result : ""
    }

    /// Returns the name of an operation without a name of its own: method and path, as in `getUsersId` for `GET /users/{id}`.
    static func identifier(method: String, path: String) -> String {
        identifier(of: method.lowercased() + "/" + path)
    }

    /// Returns a name with a word in front: `path` and `id` are `pathId`.
    static func identifier(_ word: String, before name: String) -> String {
        word + name.prefix(1).uppercased() + name.dropFirst()
    }

    private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDContinue
    }
}
