import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Reads a CSDL XML document in one pass over the events of Foundation's `XMLParser`.
final class XMLDocumentReader: NSObject, XMLParserDelegate {
    private enum Level {
        case root, document, services, schema
    }

    private let state: ReadingState
    private let depthLimit: Int
    private let reader: XMLSchemaReader
    private var outcome = RawDocument()
    private var level = Level.root
    private var schema: ServiceModel.Schema?
    private var captured: [XMLNode] = []
    private var depth = 0
    private var prefixes: [String: [String]] = ["xml": [XMLNamespace.xml]]
    private var hasEnded = false
    private var failure: ServiceModelError?
    private var dataServiceVersion: String?
    private var edmxVersion: String?
    private var hasThirdNamespace = false
    private var hasFourthNamespace = false
    /// The namespaces of schemas, of Microsoft and of OASIS.
    private var hasOlderSchema = false
    private var hasFourthSchema = false

    private init(state: ReadingState, depthLimit: Int) {
        self.state = state
        self.depthLimit = depthLimit
        reader = XMLSchemaReader(state)
    }

    /// Reads a document.
    static func read(_ data: Data, limits: ServiceModel.Limits, state: ReadingState) throws -> RawDocument {
        let data = try XMLProlog.checked(data, state: state)
        let reader = XMLDocumentReader(state: state, depthLimit: min(limits.depth, 200))
        let parser = XMLParser(data: data)
        parser.delegate = reader
        parser.shouldProcessNamespaces = true
        parser.shouldReportNamespacePrefixes = true
        parser.shouldResolveExternalEntities = false
        // On Linux the result is true even for documents that are cut off or not well-formed. Only the reported errors and the end of the
        // root are reliable.
        let isComplete = parser.parse()
        if let failure = reader.failure { throw failure }
        if !reader.hasEnded || !isComplete && !reader.isTolerated(parser.parserError) {
            throw ServiceModelError(
                kind: .malformed, message: "The metadata document ends before its root element does: load it again.",
                line: parser.lineNumber, column: parser.columnNumber)
        }
        guard reader.level == .root, !reader.outcome.schemas.isEmpty else {
            throw ServiceModelError(
                kind: .noSchema, message: "The XML document has no Schema: check that it is the $metadata document of a service.", line: 1,
                column: 1)
        }
        reader.outcome.version = reader.version
        return reader.outcome
    }

    // MARK: Events

    func parser(_ parser: XMLParser, didStartMappingPrefix prefix: String, toURI namespaceURI: String) {
        prefixes[prefix, default: []].append(namespaceURI)
    }

    func parser(_ parser: XMLParser, didEndMappingPrefix prefix: String) {
        _ = prefixes[prefix]?.popLast()
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        depth += 1
        let place = Place(line: parser.lineNumber, column: parser.columnNumber)
        if depth > depthLimit {
            fail(parser, .tooDeep, "The metadata document nests more than \(depthLimit) elements: raise the limit to read it.")
            return
        }
        let uri = namespaceURI ?? ""
        let isEDM = XMLNamespace.isEDM(uri)
        // Elements of documents without a declared namespace are read as elements of CSDL.
        let isKnown = isEDM || uri.isEmpty && !elementName.utf8.contains(UInt8(ascii: ":"))
        var list: [XMLNode.Attribute] = []
        list.reserveCapacity(attributes.count)
        for (name, value) in attributes { list.append(attribute(name, value)) }
        let node = XMLNode(name: elementName, namespace: uri, isKnown: isKnown, attributes: list, place: place)
        if !captured.isEmpty {
            captured.append(node)
            return
        }
        switch level {
        case .root where XMLNamespace.isEDMX(uri) || uri.isEmpty && elementName == "Edmx":
            level = .document
            edmxVersion = node.take("Version")
            hasFourthNamespace = uri == XMLNamespace.edmx
            checkVersion(at: place)
            outcome.extensions.attributes += node.keptAttributes
        case .root where isKnown && elementName == "Schema":
            // Some tools write a file with only a schema.
            state.report(
                .missing, "the schema isn't inside of an Edmx element", assuming: "the version is taken from the namespace", at: place,
                severity: .noted)
            begin(node)
        case .root where elementName.lowercased() == "html":
            fail(parser, .noSchema, XMLProlog.page)
        case .root:
            fail(
                parser, .noSchema, "The root of the document is '\(elementName.prefix(60))' and not edmx:Edmx: it isn't metadata of OData.")
        case .document where elementName == "Runtime" && XMLNamespace.isEDMX(uri):
            // A file of the Entity Framework's designer: the conceptual models are inside.
            break
        case .document where elementName == "ConceptualModels" && XMLNamespace.isEDMX(uri):
            level = .services
        case .document where elementName == "DataServices" && (XMLNamespace.isEDMX(uri) || uri.isEmpty):
            level = .services
            for attribute in node.attributes where attribute.namespace == ServiceModel.Extensions.dataServicesMetadata {
                if attribute.name == "MaxDataServiceVersion" || attribute.name == "DataServiceVersion" {
                    dataServiceVersion = max(dataServiceVersion ?? "", attribute.value)
                }
            }
            outcome.extensions.attributes += node.keptAttributes
        case .services where isKnown && elementName == "Schema", .document where isKnown && elementName == "Schema":
            begin(node)
        default: captured.append(node)
        }
    }

    func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil else { return }
        depth -= 1
        if depth == 0 { hasEnded = true }
        if let node = captured.popLast() {
            if let parent = captured.last {
                parent.children.append(node)
            } else if schema != nil {
                finish(node)
            } else {
                finishOutside(node)
            }
        } else if elementName == "Schema", let schema {
            outcome.schemas.append(schema)
            self.schema = nil
            level = depth == 0 ? .root : depth == 1 ? .document : .services
        } else {
            level = depth == 0 ? .root : .document
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if let node = captured.last, node.hasText { node.text += string }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if let node = captured.last, node.hasText { node.text += String(decoding: block, as: UTF8.self) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        if isTolerated(error) {
            guard (error as NSError).code == 201 else { return }
            state.report(
                .undeclaredPrefix, "a prefix isn't declared", assuming: "it is used as a namespace",
                at: Place(line: parser.lineNumber, column: parser.columnNumber))
        } else if failure == nil {
            let code = (error as NSError).code
            let fault = Self.faults[code] ?? "error \(code) of the XML parser"
            failure = ServiceModelError(
                kind: .malformed,
                message: "The metadata document isn't well-formed XML (\(fault)): load it again, or ask its provider to correct it.",
                line: parser.lineNumber, column: parser.columnNumber)
        }
    }

    /// Texts for the codes of common faults. They are those of libxml2, which `XMLParser` reports without a text.
    private static let faults = [
        4: "it is empty or begins with other text", 5: "it has text after its root element, or no root element",
        9: "it has a character that XML doesn't allow", 26: "it uses an entity that isn't declared", 38: "an attribute's value has a '<'",
        39: "an attribute's value has no quotation mark", 41: "an attribute has no value", 42: "an element has an attribute twice",
        68: "a name is missing, or a '&' isn't written as '&amp;'", 76: "an end tag is that of another element",
        77: "an element isn't closed",
    ]

    // XMLProlog refuses a document type declaration. These callbacks are for encodings that it can't read.

    func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) { refuseType(parser) }

    func parser(_ parser: XMLParser, foundExternalEntityDeclarationWithName name: String, publicID: String?, systemID: String?) {
        refuseType(parser)
    }

    func parser(_ parser: XMLParser, foundElementDeclarationWithName elementName: String, model: String) { refuseType(parser) }

    // MARK: Parts

    private func refuseType(_ parser: XMLParser) { fail(parser, .documentType, XMLProlog.refusal) }

    private func fail(_ parser: XMLParser, _ kind: ServiceModelError.Kind, _ message: String) {
        if failure == nil {
            failure = ServiceModelError(kind: kind, message: message, line: parser.lineNumber, column: parser.columnNumber)
        }
        parser.abortParsing()
    }

    /// Undeclared prefixes, and namespaces that aren't valid URIs, don't make a document unreadable.
    private func isTolerated(_ error: (any Error)?) -> Bool {
        guard let error else { return true }
        return [99, 100, 201].contains((error as NSError).code)
    }

    private func attribute(_ name: String, _ value: String) -> XMLNode.Attribute {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            return XMLNode.Attribute(name: name, namespace: "", value: value)
        }
        let prefix = String(name[..<colon])
        // An undeclared prefix becomes a namespace.
        return XMLNode.Attribute(
            name: String(name[name.index(after: colon)...]), namespace: prefixes[prefix]?.last ?? prefix, value: value)
    }

    private func begin(_ node: XMLNode) {
        if XMLNamespace.isThird(node.namespace) { hasThirdNamespace = true }
        if node.namespace == XMLNamespace.edm {
            hasFourthSchema = true
        } else if XMLNamespace.isEDM(node.namespace) {
            hasOlderSchema = true
        }
        // The defaults of a schema depend on the version.
        state.version = version
        schema = reader.schema(node)
        level = .schema
    }

    private func checkVersion(at place: Place) {
        let assumption = "it follows from the namespaces"
        guard let edmxVersion else {
            state.report(.missing, "Edmx has no Version", assuming: assumption, at: place, severity: .noted)
            return
        }
        if ["1.0", "2.0", "3.0", "4.0", "4.01"].contains(edmxVersion) { return }
        state.report(
            .unknownVersion, "the version '\(edmxVersion.prefix(20))' isn't known",
            assuming: edmxVersion.hasPrefix("4") ? "it is 4.01" : assumption, at: place)
    }

    private func finish(_ node: XMLNode) {
        guard schema != nil else { return }
        reader.add(node, to: &schema, associations: &outcome.associations)
    }

    private func finishOutside(_ node: XMLNode) {
        // V3 has a separate element for references that include annotations.
        if ["Reference", "AnnotationsReference"].contains(node.name), XMLNamespace.isEDMX(node.namespace) || node.namespace.isEmpty {
            if let reference = reader.reference(node) { outcome.references.append(reference) }
        } else {
            outcome.extensions.elements.append(reader.unknown(node))
        }
    }

    private var version: ServiceModel.Version {
        switch edmxVersion {
        case "4.0": return .v4
        case "4.01": return .v401
        default:
            if hasThirdNamespace || dataServiceVersion?.hasPrefix("3") == true { return .v3 }
            if let edmxVersion, edmxVersion.hasPrefix("4") { return .v401 }
            if hasFourthSchema, !hasOlderSchema { return .v4 }
            return (hasFourthNamespace || hasFourthSchema) && edmxVersion != "1.0" ? .v4 : .v2
        }
    }
}
