import Foundation

/// Reads the servers of an OpenAPI document (OpenAPI 3.1.1, "Server Object").
struct OpenAPIServers {
    let document: OpenAPIDocument
    /// The URL that the document came from.
    let base: URL?
    /// The values of server variables that the program sets.
    let variables: [String: String]
    /// The variables that a server has.
    private(set) var known: Set<String> = []

    init(_ document: OpenAPIDocument, base: URL?, variables: [String: String]) {
        self.document = document
        self.base = base
        self.variables = variables
    }

    /// The service root: the URL of the first server; empty if there is none, or if it is relative and the document's URL isn't known.
    mutating func root() -> String {
        guard let servers = document.root["servers"], servers.json.isArray, servers.json.count > 0 else {
            if let base, let root = resolved("/", against: base) { return root }
            document.note(document.root, "the document has no servers, so give the client a service root")
            return ""
        }
        guard let server = first(of: servers) else { return "" }
        guard let text = url(of: server, isRoot: true) else { return "" }
        guard !text.contains("://") else { return text }
        guard let base, let root = resolved(text, against: base) else {
            document.note(
                server,
                "the server's URL \"\(SerializationError.excerpt(text))\" is relative, so give the client the whole service root, or say where the "
                    + "document came from with ServiceProfile(openAPI:from:)")
            return ""
        }
        return root
    }

    /// The root of an operation or a path that has its own servers: a path for the origin of the document's root, otherwise a URL.
    ///
    /// - Returns: `nil` if it can't be read, which is noted.
    mutating func ownRoot(_ servers: OpenAPINode, root: String) -> String? {
        guard servers.json.isArray, servers.json.count > 0, let server = first(of: servers), let text = url(of: server, isRoot: false)
        else {
            return nil
        }
        var absolute: String? = text
        if !text.contains("://") {
            absolute = base.flatMap { resolved(text, against: $0) }
            if absolute == nil, text.hasPrefix("/") { return text }
        }
        guard let absolute, let own = ServiceRoot(absolute) else {
            document.note(server, "the server's URL \"\(SerializationError.excerpt(text))\" can't be used")
            return nil
        }
        guard let main = ServiceRoot(root), main.origin == own.origin else { return absolute }
        let path = own.base.dropFirst(ServiceRoot.authority(of: own.base).count)
        return path.isEmpty ? "/" : String(path)
    }

    private func first(of servers: OpenAPINode) -> OpenAPINode? {
        var found: [OpenAPINode] = []
        servers.forEachElement { if found.count < 2 { found.append($0) } }
        if servers.json.count > 1, let second = found.last {
            document.note(
                second, "only the first of \(servers.json.count) servers is used: give the client another one as its service root")
        }
        return found.first.flatMap { document.object($0) }
    }

    /// The URL of a server with its variables.
    private mutating func url(of server: OpenAPINode, isRoot: Bool) -> String? {
        guard let text = server["url"]?.text else {
            report(server, "the server has no URL", isRoot)
            return nil
        }
        guard let path = OpenAPIPath(text), !ServiceRoot.hasPlaceholders(text) else {
            report(server, "the server's URL \"\(SerializationError.excerpt(text))\" has braces that aren't a variable's, or %%", isRoot)
            return nil
        }
        var values: [String: String] = [:]
        for name in path.names where values[name] == nil {
            guard let value = value(of: name, server, isRoot) else { return nil }
            values[name] = value
        }
        let url = path.template { values[$0] ?? "" }
        if url.contains("://"), let fault = ServiceRoot.faults(in: url).first {
            report(server, "\(fault)", isRoot)
            return nil
        }
        return url
    }

    /// The value of a variable: the program's, or the default.
    private mutating func value(of name: String, _ server: OpenAPINode, _ isRoot: Bool) -> String? {
        let shown = SerializationError.excerpt(name)
        known.insert(name)
        let variable = server["variables"]?[name]
        let allowed = variable?["enum"]?.texts ?? []
        guard let given = variables[name] else {
            if let value = variable?["default"]?.scalarText { return value }
            report(
                server, "the variable \"\(shown)\" of the server's URL has no default: set it with ServiceProfile(openAPI:variables:)",
                isRoot)
            return nil
        }
        guard allowed.isEmpty || allowed.contains(given) else {
            document.fault(
                variable ?? server,
                "\"\(SerializationError.excerpt(given))\" isn't a value of the variable \"\(shown)\"; its values are "
                    + allowed.prefix(20).joined(separator: ", "))
            return nil
        }
        return given
    }

    /// Reports a fault of a server. The document can't be used without its root; an operation without its own server is left out.
    private func report(_ node: OpenAPINode, _ text: String, _ isRoot: Bool) {
        if isRoot { document.fault(node, text) } else { document.note(node, text) }
    }

    /// A URL relative to another one, if that has a root.
    private func resolved(_ text: String, against base: URL) -> String? {
        guard base.scheme == "http" || base.scheme == "https", let url = URL(string: text, relativeTo: base)?.absoluteURL,
            ServiceRoot(url.absoluteString) != nil
        else { return nil }
        return url.absoluteString
    }

    /// Reports values that the program sets for variables that no server has.
    func checkVariables() {
        for name in variables.keys.sorted() where !known.contains(name) {
            let nearest = NearestName.of(name, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
            document.fault(document.root, "no server has the variable \"\(SerializationError.excerpt(name))\"\(nearest)")
        }
    }
}
