public import Foundation

extension ServiceProfile {
    /// Reads the operations of an OpenAPI document, version 3.0, 3.1 or 3.2, as JSON or YAML.
    ///
    ///     let petstore = try ServiceProfile(openAPI: data, from: url)
    ///     let client = Petstore(profile: petstore) { $0.credentials["api_key"] = .key(key) }
    ///     let pets: [Pet] = try await client.dynamic.listPets(limit: 10)
    ///
    /// An operation's base name is its `operationId`; one that isn't a Swift name is joined in camel case (`repos/get` is `reposGet`). An
    /// operation without one is named by method and path (`getUsersId`), and so is one whose name an earlier operation has. Its arguments
    /// are its parameters, by their names as Swift names, and `body`; `as` chooses the body's media type if there are several. Arguments
    /// that the document doesn't require may be left out, and have any order. A method of the client with an operation's base name calls
    /// the operation. ``WebServiceClient/WebServiceClient/dynamic`` has a subscript for the document's own names.
    ///
    /// Schemas aren't read, so the document may be large: the program's types are encoded as they are. ``notes`` lists what is left out,
    /// each with its JSON pointer. References to other documents lead to those in `documents`; nothing is fetched.
    ///
    /// YAML is read without tags and several documents, and a key may be there only once. A document that
    /// ``ClientDescription/openAPI(version:)`` made is read from its extensions: it gives the same table, without the secrets and the types
    /// of the program. An edited operation is read like those of other documents.
    ///
    /// The service root is the URL of the first server. As in other profiles, its origin must be one that the program lists.
    ///
    /// - Parameters:
    ///   - data: The document, up to 64 MiB.
    ///   - url: The URL that the document came from, for relative URLs of servers and documents.
    ///   - documents: The documents that references lead to, by their URLs. A relative URL, such as `paths/pets.yaml`, is relative to the
    ///     main document. If these documents refer to the main document, set `url` or include the main document. Documents that no
    ///     reference leads to aren't used.
    ///   - variables: The values of server variables, instead of their defaults.
    /// - Throws: ``ServiceProfileError`` if the document, or one that a reference leads to, can't be read, if no operation can be called,
    ///   or if a server variable has a wrong value.
    public init(openAPI data: Data, from url: URL? = nil, documents: [String: Data] = [:], variables: [String: String] = [:]) throws {
        self = try OpenAPIReader.profile(of: data, from: url, documents: documents, variables: variables)
    }
}

/// Reads an OpenAPI document as a profile.
enum OpenAPIReader {
    /// The longest document, in bytes.
    static let sizeLimit = 64 << 20

    static func profile(
        of data: Data, from url: URL?, documents: [String: Data], variables: [String: String]
    ) throws -> ServiceProfile {
        do {
            guard !documents.isEmpty else {
                return try withJSON(of: data, named: nil) { text in
                    try JSONReader.ofDocuments.withNode(of: text) { root in
                        try profile(OpenAPIDocument(root, others: [:], unreadable: [:], from: url), from: url, variables)
                    }
                }
            }
            var names: [String] = []
            var unreadable: [String: String] = [:]
            // One array of all documents, whose values are valid together.
            var joined = Data("[".utf8) + (try checkedJSON(of: data, named: nil))
            for (name, other) in documents.sorted(by: { $0.key < $1.key }) {
                do {
                    joined += Data(",".utf8) + (try checkedJSON(of: other, named: name))
                    names.append(name)
                } catch let error as Unreadable {
                    unreadable[name] = error.reason
                }
            }
            joined.append(UInt8(ascii: "]"))
            var reader = JSONReader()
            reader.sizeLimit = joined.count
            return try reader.withNode(of: joined) { all in
                var nodes: [JSONNode] = []
                all.forEachElement { nodes.append($0) }
                let others = Dictionary(zip(names, nodes.dropFirst()), uniquingKeysWith: { first, _ in first })
                return try profile(OpenAPIDocument(nodes[0], others: others, unreadable: unreadable, from: url), from: url, variables)
            }
        } catch let error as Unreadable {
            throw ServiceProfileError(faults: [error.reason])
        }
    }

    private static func profile(
        _ document: OpenAPIDocument, from url: URL?, _ variables: [String: String]
    ) throws(ServiceProfileError) -> ServiceProfile {
        var reader = try OpenAPIProfileReader(document, from: url, variables: variables)
        return try reader.profile()
    }

    /// Why a document can't be read.
    private struct Unreadable: Error {
        let reason: String
    }

    /// The document as JSON that the reader accepts as an element of an array.
    private static func checkedJSON(of data: Data, named name: String?) throws -> Data {
        var reader = JSONReader.ofDocuments
        reader.depthLimit -= 1
        return try withJSON(of: data, named: name) { text in
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            // A byte order mark may begin a text, but not an element.
            return try reader.withNode(of: text) { _ in text.starts(with: mark) ? text.dropFirst(mark.count) : text }
        }
    }

    /// Calls a closure with the document as JSON.
    ///
    /// - Throws: `Unreadable`, also if the closure can't read the JSON; ``ServiceProfileError`` of the closure.
    private static func withJSON<Value>(of data: Data, named name: String?, _ read: (Data) throws -> Value) throws -> Value {
        let shown = name.map { "the document \"\(OpenAPIDocument.shown($0))\"" } ?? "the document"
        do {
            return try read(try json(of: data, shown))
        } catch let error as ServiceProfileError {
            throw error
        } catch let error as Unreadable {
            throw error
        } catch let error as YAMLSyntaxError {
            throw Unreadable(reason: "\(shown) isn't YAML that can be read: \(error)")
        } catch {
            // A flow mapping of YAML begins as JSON does.
            if let text = try? TextEncoding.utf8(from: data, contentType: nil), text.count <= sizeLimit,
                let yaml = String(data: text, encoding: .utf8), let json = try? YAMLParser.json(of: yaml), json.first == UInt8(ascii: "{")
            {
                return try read(json)
            }
            guard data.count <= sizeLimit else {
                throw Unreadable(reason: "\(shown) has \(data.count) bytes, more than the \(sizeLimit) that are read")
            }
            throw Unreadable(reason: "\(shown) isn't JSON: \(DecodingErrorText.text(of: error))")
        }
    }

    /// The document as JSON. It is YAML if its first character begins neither JSON nor XML.
    private static func json(of data: Data, _ shown: String) throws -> Data {
        let text = try TextEncoding.utf8(from: data, contentType: nil)
        let first = String(decoding: text.prefix(4_096), as: UTF8.self).unicodeScalars.first {
            !$0.properties.isWhitespace && $0 != "\u{FEFF}"
        }
        guard text.count <= sizeLimit, let first, !"{[<".unicodeScalars.contains(first) else { return text }
        guard let string = String(data: text, encoding: .utf8) else {
            throw Unreadable(reason: "\(shown) is neither JSON nor text in UTF-8")
        }
        return try YAMLParser.json(of: string)
    }
}

extension JSONReader {
    /// A reader with the bound of one document.
    fileprivate static var ofDocuments: JSONReader {
        var reader = JSONReader()
        reader.sizeLimit = OpenAPIReader.sizeLimit
        return reader
    }
}

/// Reads the parts of a document that are around its operations.
private struct OpenAPIProfileReader {
    private let document: OpenAPIDocument
    private var servers: OpenAPIServers
    private let security: OpenAPISecurity
    private var root = ""
    /// An operation that has no name yet.
    private struct Unnamed {
        let node: OpenAPINode
        let method: ServiceRequest.Method
        let path: String
        let item: OpenAPINode
        /// The operation's name in the path item.
        let member: String
    }

    private var operations: [(name: String?, operation: Unnamed)] = []
    private var entries: [Int: EndpointTable.Entry] = [:]
    /// The table that the document was made of.
    private let table: OpenAPITable?
    /// The endpoints of that table, with their positions in it.
    private var own: [(position: Int, entry: EndpointTable.Entry)] = []
    /// The operations of the keys that are read, and of the names that they have in the document.
    private var keys: [String: OpenAPINode] = [:]
    private var ownNames: [String: OpenAPINode] = [:]

    /// The members of a path item that are operations (OpenAPI 3.2.0, "Path Item Object").
    private static let methods: Set<String> = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"]
    private static let otherMembers: Set<String> = ["summary", "description", "servers", "parameters", "$ref"]

    init(_ document: OpenAPIDocument, from url: URL?, variables: [String: String]) throws(ServiceProfileError) {
        self.document = document
        try Self.checkVersion(document)
        servers = OpenAPIServers(document, base: url, variables: variables)
        security = OpenAPISecurity(document)
        table = OpenAPITable(document)
    }

    private static func checkVersion(_ document: OpenAPIDocument) throws(ServiceProfileError) {
        let root = document.root
        guard root.json.isObject else { throw ServiceProfileError(faults: ["the document isn't a JSON object"]) }
        if let old = root["swagger"] {
            throw ServiceProfileError(faults: [
                "the document is Swagger \(SerializationError.excerpt(old.text ?? "")): convert it to OpenAPI 3, for example with swagger2openapi"
            ])
        }
        guard let version = root["openapi"]?.scalarText else {
            throw ServiceProfileError(faults: [
                "the document has no text \"openapi\" with its version, so that it isn't an OpenAPI document"
            ])
        }
        let numbers = version.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count >= 2, numbers[0] == "3", ["0", "1", "2"].contains(numbers[1]) else {
            throw ServiceProfileError(faults: [
                "#/openapi: the version is \(SerializationError.excerpt(version)), and versions 3.0 to 3.2 are read"
            ])
        }
    }

    mutating func profile() throws(ServiceProfileError) -> ServiceProfile {
        if let table, let own = table.root, servers.variables.isEmpty, table.hasServers(of: document), ServiceRoot.faults(in: own).isEmpty {
            root = own
        } else {
            root = servers.root()
        }
        findOperations()
        readOperations()
        servers.checkVariables()
        if let webhooks = document.root["webhooks"], webhooks.json.count > 0 { document.note(webhooks, "webhooks are left out") }
        if endpoints.isEmpty, !operations.isEmpty, document.faults.isEmpty {
            document.fault(document.root, "no operation can be called: \(document.notes.last ?? "")")
        }
        guard document.faults.isEmpty else { throw ServiceProfileError(faults: document.faults) }
        return ServiceProfile(
            baseURL: root, entries: endpoints, notes: document.notes,
            securitySchemes: security.schemes)
    }

    /// The endpoints of the exported table in its order, and those of the other operations in theirs.
    private var endpoints: [EndpointTable.Entry] {
        let positions = own.indices.sorted { (own[$0].position, $0) < (own[$1].position, $1) }
        return positions.map { own[$0].entry } + entries.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: Paths

    private mutating func findOperations() {
        guard let paths = document.root["paths"] else { return }
        guard paths.json.isObject else { return document.fault(paths, "it isn't an object") }
        var found: [(String?, Unnamed)] = []
        var others: [(position: Int, entry: EndpointTable.Entry)] = []
        paths.forEachMember { path, node in
            guard !path.hasPrefix("x-") else { return }
            guard path.hasPrefix("/") else { return document.note(node, "the path doesn't begin with a slash, and is left out") }
            guard let item = document.object(node) else { return }
            item.forEachMember { member, operation in
                func add(_ operation: OpenAPINode, _ method: String) {
                    guard operation.json.isObject else { return document.note(operation, "it isn't an object, and is left out") }
                    let method = ServiceRequest.Method(rawValue: method)
                    let name = operation["operationId"]?.scalarText
                    found.append((name, Unnamed(node: operation, method: method, path: path, item: item, member: member)))
                }
                if Self.methods.contains(member) {
                    add(operation, member.uppercased())
                } else if member == "additionalOperations" {
                    operation.forEachMember { method, operation in add(operation, method) }
                } else if member == "x-endpoints", table != nil {
                    operation.forEachElement { other in
                        let method = ServiceRequest.Method(rawValue: other["x-method"]?.text ?? "")
                        let found = Unnamed(node: other, method: method, path: path, item: item, member: member)
                        if let entry = ownEntry(of: found) { others.append(entry) }
                    }
                } else if !Self.otherMembers.contains(member), !member.hasPrefix("x-") {
                    document.note(operation, "the member \"\(SerializationError.excerpt(member))\" isn't known, and is left out")
                }
            }
        }
        own += others
        operations = found.filter { _, operation in
            guard let entry = ownEntry(of: operation) else { return true }
            own.append(entry)
            return false
        }
    }

    /// The endpoint that the operation was made of, whose key and name are taken then.
    private mutating func ownEntry(of operation: Unnamed) -> (position: Int, entry: EndpointTable.Entry)? {
        let node = operation.node
        guard let table, node["x-endpoint"] != nil else { return nil }
        let found = table.entry(
            for: node, path: operation.path, member: operation.member, item: operation.item, of: document,
            requirements: node["security"] == nil ? security.common : security.requirements(of: node))
        guard let found, let key = try? MethodName(found.entry.key) else { return nil }
        let (_, faults) = EndpointCompiler.compile(found.entry.descriptor, for: key, root: ServiceRoot.hasPlaceholders(root) ? root : nil)
        guard faults.isEmpty else {
            let reasons = faults.map { "\($0.problem); \($0.fix)" }.joined(separator: "; ")
            document.note(node, "the endpoint has faults: \(reasons); the operation is read instead")
            return nil
        }
        if let other = keys[found.entry.key] {
            document.note(node, "its key \(found.entry.key) is that of \(other.pointer); the extension is left out")
            return nil
        }
        keys[found.entry.key] = node
        if let name = node["operationId"]?.scalarText { ownNames[MethodName.identifier(of: name)] = node }
        return found
    }

    /// Reads the operations with names first, because the others get names that aren't taken: their method and path, with a number if
    /// another operation has that name, too.
    private mutating func readOperations() {
        // A copy of an exported operation has the name of the original.
        var names = ownNames
        var nameless: [(index: Int, reason: String)] = []
        for (index, (name, operation)) in operations.enumerated() {
            guard let name else {
                nameless.append((index, "it has no operationId"))
                continue
            }
            let baseName = MethodName.identifier(of: name)
            let shown = "the operationId \"\(SerializationError.excerpt(name))\""
            if baseName.isEmpty {
                nameless.append((index, "\(shown) has no letters"))
            } else if let other = names[baseName] {
                nameless.append((index, "\(shown) is the name of another operation: \(other.pointer)"))
            } else {
                names[baseName] = operation.node
                read(operation, at: index, as: baseName)
            }
        }
        for (key, node) in keys.sorted(by: { $0.key < $1.key }) {
            guard let name = try? MethodName(key), names[name.baseName] == nil else { continue }
            names[name.baseName] = node
        }
        // The last number of each name, so that many equal names take linear time.
        var numbers: [String: Int] = [:]
        for (index, reason) in nameless {
            let (name, operation) = operations[index]
            let ownName = MethodName.identifier(method: operation.method.rawValue, path: operation.path)
            var baseName = ownName
            var number = numbers[ownName] ?? 1
            while names[baseName] != nil {
                number += 1
                baseName = "\(ownName)\(number)"
            }
            numbers[ownName] = number
            if let other = names[ownName] {
                document.note(operation.node, "\(reason), and its name \(ownName) is that of \(other.pointer); it is called \(baseName)")
            } else if name != nil {
                document.note(operation.node, "\(reason); it is called \(baseName)")
            }
            names[baseName] = operation.node
            read(operation, at: index, as: baseName)
        }
    }

    private mutating func read(_ found: Unnamed, at index: Int, as baseName: String) {
        guard let path = OpenAPIPath(found.path) else {
            return document.note(found.node, "the braces of the path aren't balanced; the operation is left out")
        }
        var common: [OpenAPINode] = []
        found.item["parameters"]?.forEachElement { common.append($0) }
        do {
            let operation = try OpenAPIOperation(found.node, method: found.method, path: path, common: common, of: document)
            var own: String?
            if let servers = found.node["servers"] ?? found.item["servers"] {
                own = self.servers.ownRoot(servers, root: root)
                if own == nil { return document.note(servers, "the operation's own server can't be used; the operation is left out") }
            }
            let entry = operation.entry(baseName: baseName, security: security.requirements(of: found.node), serviceRoot: own)
            if let fault = Self.fault(of: entry) {
                return document.note(found.node, "\(fault); the operation is left out")
            }
            if let other = keys.updateValue(found.node, forKey: entry.key) {
                document.fault(found.node, "its key \(entry.key) is that of another operation: \(other.pointer)")
            }
            entries[index] = entry
        } catch {
            document.note(at: error.pointer, "\(error.text); the operation \(found.node.pointer) is left out")
        }
    }

    /// A fault that would keep the client from making calls.
    private static func fault(of entry: EndpointTable.Entry) -> String? {
        guard let key = try? MethodName(entry.key) else { return "\"\(SerializationError.excerpt(entry.key))\" isn't a key" }
        let (_, faults) = EndpointCompiler.compile(entry.descriptor, for: key, root: nil)
        return faults.first.map { "\($0.problem); \($0.fix)" }
    }
}
