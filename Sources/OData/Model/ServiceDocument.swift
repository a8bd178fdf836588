public import Foundation
import WebServiceClient

/// The service document: the resources that a service lists at its root (JSON Format 4.01, section 5; OData 2.0, JSON Format, section 5).
///
///     for resource in try await client.serviceDocument().resources { print(resource.kind, resource.name) }
public struct ServiceDocument: Sendable, Hashable {
    /// The kind of a resource.
    public enum Kind: Sendable, Hashable {
        /// An entity set, or a resource that states no kind.
        case entitySet
        /// A singleton.
        case singleton
        /// A function import without parameters.
        case functionImport
        /// Another service document.
        case serviceDocument
        /// A kind of a later version of the protocol.
        case other(String)

        init(_ text: String?) {
            self =
                switch text {
                case nil, "EntitySet": .entitySet
                case "Singleton": .singleton
                case "FunctionImport": .functionImport
                case "ServiceDocument": .serviceDocument
                case let text?: .other(text)
                }
        }
    }

    /// A resource of the service.
    public struct Resource: Sendable, Hashable {
        /// The name of the entity set, singleton or function import, without the container's.
        public let name: String
        /// A title for people, if the service has one.
        public let title: String?
        /// The kind of the resource.
        public let kind: Kind
        /// The link as the service wrote it. It can differ from ``name``, by which requests address the resource.
        public let link: String
        /// The URL of ``link``; `nil` if the link isn't a URL.
        ///
        /// It is resolved against the document's context if that is on the service's host, and otherwise against the root. Without a root
        /// it is relative.
        public let url: URL?
    }

    /// The resources, in the order of the document.
    public let resources: [Resource]

    /// The entity sets.
    public var entitySets: [Resource] { resources.filter { $0.kind == .entitySet } }
    /// The singletons.
    public var singletons: [Resource] { resources.filter { $0.kind == .singleton } }
    /// The function imports.
    public var functionImports: [Resource] { resources.filter { $0.kind == .functionImport } }

    /// Returns the resource of a name, or `nil`.
    public subscript(name: String) -> Resource? { resources.first { $0.name == name } }

    /// Reads a service document in JSON, of any version.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - url: The root of the service, with a slash at its end: the base of relative links, unless the document has a context on the
    ///     same host.
    /// - Throws: `DecodingError` with the place of the fault.
    public init(json data: Data, url: URL? = nil) throws {
        try self.init(ODataDecoder().decode(DynamicEntity.self, from: data), url: url)
    }

    init(_ payload: DynamicEntity, url: URL?) throws {
        let base = url.map { NextLink.base(context: PageShape.context(of: payload), page: $0) }
        if let sets = payload["EntitySets"]?.array {
            resources = try sets.enumerated().map { index, value in
                let place = [JSONKey("EntitySets"), JSONKey(index: index)]
                guard let name = value.string else { throw Self.fault("with a name", at: place) }
                return Resource(name: name, title: nil, kind: .entitySet, link: name, url: NextLink.resolved(name, against: base))
            }
            return
        }
        guard let list = payload["value"]?.array else {
            throw Self.fault("with resources in 'value' or, in version 2, in 'd' and 'EntitySets'", at: [])
        }
        resources = try list.enumerated().map { index, value in
            let place = [JSONKey("value"), JSONKey(index: index)]
            guard let object = value.object else { throw Self.fault("with an object", at: place) }
            guard let name = object["name"]?.string else { throw Self.fault("with a text", at: place + [JSONKey("name")]) }
            // Early services may omit the link; it is then the name.
            let link = object["url"]?.string ?? name
            return Resource(
                name: name, title: object["title"]?.string, kind: Kind(object["kind"]?.string), link: link,
                url: NextLink.resolved(link, against: base))
        }
    }

    private static func fault(_ problem: String, at path: [any CodingKey]) -> DecodingError {
        // A shown error has the place at its end.
        let text = "Check that the URL is the root of an OData service: the payload isn't a service document \(problem)"
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: text))
    }
}
