import Foundation
@_spi(Fuzzing) import HTTPTransport
@_spi(Fuzzing) import WebServiceClient
@_spi(Fuzzing) import WebServiceTesting

/// The parsers that read untrusted input.
enum ParserTarget: String, CaseIterable {
    case challenges, uriTemplate, urlText, percentEncoding, form, mediaType, methodName, retryAfter, profile, odataError, formDecoding
    case structuredFields, propertyList, plainText, webLink, openAPI, yaml
    case setCookie, cookieFile
    case netlink, noVarySearch, contentRange
    case objectFile
    case certificate, certificateText, hostPattern, pin
    case contentCoding, responseHead, webSocket
    case json, jsonDirect, jsonPieces, jsonValue
    case xml, xmlDecoding
    case lines, events, jsonLines, jsonSequence, parts
    case odataQuery, odataExpression, odataLiteral, odataModel
    case odataPage, odataPieces, odataPayload, odataEntity, edmText, odataBatch, odataBatchJSON
    case odataEmbedded, odataKeys
    case metadata
    case har
    case spoolSegment, redaction, receiverAnswer, traceContext

    func run(_ text: String, _ data: Data) {
        switch self {
        case .challenges:
            _ = AuthenticationChallenge.challenges(in: text.split(separator: "\n").map(String.init))
        case .uriTemplate:
            guard let template = try? URITemplate(text) else { return }
            _ = try? template.expand { name in .string(name) }
            _ = try? template.expand { name in .list([name, "b/c"]) }
        case .urlText:
            let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
            _ = URLText.resolve(parts.first ?? "", against: parts.last ?? "")
            let repaired = URLText.repaired(text)
            check(URLText.repaired(repaired) == repaired, "repairing twice changes \(text.debugDescription)")
        case .percentEncoding:
            check(URLEncoding.decode(URLEncoding.encode(text)) == text, "encoding loses \(text.debugDescription)")
        case .form:
            _ = URLEncoding.parseForm(text)
            _ = URLEncoding.parseQuery(text)
        case .mediaType:
            guard let type = MediaType(text) else { return }
            check(MediaType(type.description) == type, "\(text.debugDescription) doesn't come back")
        case .methodName:
            guard let name = try? MethodName(text) else { return }
            check((try? MethodName(name.description)) == name, "\(text.debugDescription) doesn't come back")
        case .retryAfter:
            _ = RetryAfter(text)?.delay()
        case .structuredFields:
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if let item = try? StructuredFields.item(lines) {
                let written = try? StructuredFields.text(of: item)
                check(written.flatMap { try? StructuredFields.item([$0]) } == item, "an item doesn't come back")
            }
            if let list = try? StructuredFields.list(lines) {
                let written = (try? StructuredFields.text(of: list)) ?? nil
                check((try? StructuredFields.list(written.map { [$0] } ?? [])) == list, "a list doesn't come back")
            }
            if let dictionary = try? StructuredFields.dictionary(lines) {
                let written = (try? StructuredFields.text(of: dictionary)) ?? nil
                check((try? StructuredFields.dictionary(written.map { [$0] } ?? [])) == dictionary, "a dictionary doesn't come back")
            }
        case .webLink:
            guard let url = URL(string: "https://www.example.com/a/b?c") else { return }
            var fields = HTTPFields()
            for line in text.split(separator: "\n") { fields.append("Link", String(line)) }
            for link in WebLink.links(in: fields, at: url) {
                check(!link.reference.utf8.contains(UInt8(ascii: ">")), "\(text.debugDescription) has a target with a bracket")
                check(link.relations.allSatisfy(link.has), "\(text.debugDescription) has a relation that isn't found")
            }
        case .har:
            checkArchive(data)
        case .profile:
            _ = ServiceProfile.verify(data)
        case .openAPI:
            checkDocument(data)
        case .yaml:
            guard let json = JSONReader.json(ofYAML: text) else { return }
            check((try? JSONReader().decode(JSONValue.self, from: json)) != nil, "\(text.debugDescription) isn't JSON afterwards")
        case .formDecoding:
            guard !data.isEmpty else { return }
            _ = try? FormSerializer().decode([String: [String]].self, from: data, at: [], contentType: nil)
            _ = try? FormSerializer().decode(Tree.self, from: data, at: [], contentType: nil)
        case .propertyList:
            guard !data.isEmpty else { return }
            _ = try? PropertyListSerializer().decode(Tree.self, from: data, at: [], contentType: nil)
        case .plainText:
            let type = text.split(separator: "\n", maxSplits: 1).first.map(String.init)
            guard !data.isEmpty else { return }
            _ = try? PlainTextSerializer().decode(Decimal.self, from: data, at: [], contentType: type)
            _ = try? PlainTextSerializer().decode(Date.self, from: data, at: [], contentType: type)
            _ = try? JSONSerializer().decode([String].self, from: data, at: [], contentType: type)
        case .setCookie:
            guard let url = URL(string: "https://www.example.com/a/b?c") else { return }
            let jar = CookieJar()
            // One field per line, as a server sends them.
            var fields = HTTPFields()
            for line in text.split(separator: "\n") { fields.append(.setCookie, String(line)) }
            jar.store(fields, from: url)
            checkFile(of: jar)
            for cookie in jar.all {
                check(cookie.domain.hasSuffix("example.com"), "\(text.debugDescription) sets a cookie for another host")
                check(!cookie.value.utf8.contains { $0 < 32 && $0 != 9 }, "\(text.debugDescription) has a control character")
            }
        case .cookieFile:
            let jar = CookieJar()
            jar.importNetscape(data)
            checkFile(of: jar)
        case .objectFile:
            _ = try? MethodList.declarations(in: data, beginningWith: "$s")
        case .netlink:
            _ = NetworkStatus(netlink: [UInt8](data))
        case .noVarySearch:
            // The field, and a query on the next line.
            let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let url = "https://example.com/a?" + (parts.count > 1 ? parts[1] : "")
            guard let canonical = ResponseCache.canonical(url, noVarySearch: parts[0]) else { return }
            check(ResponseCache.canonical(canonical, noVarySearch: parts[0]) == canonical, "\(canonical.debugDescription) isn't canonical")
        case .contentRange:
            guard let canonical = HTTPFields.canonicalContentRange(text) else { return }
            check(HTTPFields.canonicalContentRange(canonical) == canonical, "\(text.debugDescription) doesn't come back")
        case .certificate:
            guard let certificate = try? Certificate(der: data) else { return }
            check((try? Certificate(pem: certificate.pem)) == certificate, "a certificate doesn't come back from its PEM")
            _ = certificate.description
        case .certificateText:
            for certificate in (try? Certificate.certificates(in: data)) ?? [] {
                check((try? Certificate(der: certificate.der)) == certificate, "a certificate doesn't come back from its DER")
            }
            _ = try? ClientIdentity.pem(chain: data, key: data)
            _ = try? ClientIdentity.pkcs12(data)
        case .hostPattern:
            _ = HostPattern(text).matches(text)
        case .pin:
            let pin = CertificatePin.publicKey(sha256: text)
            _ = pin.description
        case .contentCoding:
            guard let first = data.first else { return }
            let codings = Self.codings[Int(first) % Self.codings.count]
            let bytes = data.dropFirst()
            let whole = decoded(bytes, codings, inPiecesOf: bytes.count)
            let split = decoded(bytes, codings, inPiecesOf: 1 + Int(first) / Self.codings.count)
            if let whole, let split { check(whole == split, "pieces make a difference to \(codings)") }
        case .webSocket:
            for isClient in [false, true] {
                let whole = WebSocketMessage.reading([UInt8](data), inPiecesOf: data.count, fromClient: isClient, limit: 300)
                let split = WebSocketMessage.reading([UInt8](data), inPiecesOf: 1 + data.count % 5, fromClient: isClient, limit: 300)
                check(whole.events == split.events && whole.end == split.end, "pieces make a difference to frames")
            }
        case .json:
            checkWhereItLies(data) { try JSONReader().decode(JSONTree.self, from: $0) }
            // Foundation detects UTF-16 and UTF-32 by other rules.
            guard !isWide(data), let value = try? JSONReader().decode(JSONTree.self, from: data) else { return }
            check((try? JSONDecoder().decode(JSONTree.self, from: data)) == value, "JSONDecoder reads \(text.debugDescription) differently")
        case .jsonPieces:
            let whole = try? JSONReader().decode([JSONTree].self, from: data, at: ["v"])
            let size = 1 + data.count % 7
            let pieces = try? JSONReader().elements(of: JSONTree.self, inPiecesOf: size, of: data, at: ["v"])
            // Reading in pieces requires UTF-8.
            check(isWide(data) || whole == pieces, "pieces of \(size) make a difference to \(text.debugDescription)")
        case .jsonDirect:
            checkWhereItLies(data) { try JSONReader().read(JSONDirectTree.self, from: $0).tree }
            let direct = try? JSONReader().read(JSONDirectTree.self, from: data).tree
            check(direct == (try? JSONReader().decode(JSONTree.self, from: data)), "\(text.debugDescription) is read differently directly")
        case .jsonValue, .xml, .xmlDecoding:
            runUntyped(text, data)
        case .lines:
            checkPieces(text) { StreamParsers.lines(of: data, inPiecesOf: $0, limit: 100) ?? ["?"] }
        case .events:
            checkPieces(text) { size -> [String] in
                guard let read = StreamParsers.events(of: data, inPiecesOf: size, limit: 1_000) else { return ["?"] }
                return read.events.map { "\($0)" } + [read.lastID]
            }
        case .jsonLines, .jsonSequence:
            let framing = self == .jsonLines ? StreamFraming.jsonLines : .jsonSequence
            checkPieces(text) { StreamParsers.records(of: data, as: framing, inPiecesOf: $0, limit: 1_000) ?? [nil, nil, nil] }
        case .parts:
            checkPieces(text) { size in
                StreamParsers.parts(of: data, boundary: "b", inPiecesOf: size, fieldLimit: 200)?.map { "\($0.fields) \(Array($0.body))" }
                    ?? ["?"]
            }
        case .responseHead:
            let head = HTTPFields.responseHead(Array(data))
            check(head.status < 1_000, "\(text.debugDescription) has the status \(head.status)")
            let fields = HTTPFields(Array(head.fields))
            for name in Set(fields.map(\.name)) {
                // A new head, whose fields haven't been read as a whole.
                let unread = HTTPFields.responseHead(Array(data)).fields
                check(unread[values: name] == fields[values: name], "\(text.debugDescription) has another \(name) if it isn't read")
            }
        case .odataError, .odataQuery, .odataExpression, .odataLiteral, .odataModel, .odataPage, .odataPieces, .odataPayload, .odataEntity,
            .edmText, .odataBatch, .odataBatchJSON, .odataEmbedded, .odataKeys:
            runOData(text, data)
        case .metadata:
            runMetadata(data)
        case .spoolSegment, .redaction, .receiverAnswer, .traceContext:
            runRemoteLogger(text, data)
        }
    }

    /// Checks that a jar comes back from its file, except for names and paths with tabs.
    private func checkFile(of jar: CookieJar) {
        let other = CookieJar()
        let written = jar.netscape()
        check(other.importNetscape(written).isEmpty, "a line isn't read")
        check(other.netscape() == written, "a file changes when it is read")
    }

    /// Returns whether a text may be UTF-16 or UTF-32.
    private func isWide(_ data: Data) -> Bool {
        data.prefix(4).contains(0) || data.first == 0xFE || data.first == 0xFF
    }

    private static let codings: [[ContentCoding]] = [[.gzip], [.deflate], [.brotli], [.zstd], [.gzip, .deflate], [.zstd, .brotli, .gzip]]

    /// Returns the decoded body, up to a megabyte; `nil` if it can't be decoded.
    private func decoded(_ data: Data, _ codings: [ContentCoding], inPiecesOf count: Int) -> Data? {
        var decoder = ContentDecoder(codings, host: "example.com")
        var rest = data
        var whole = Data()
        while whole.count < 1 << 20 {
            guard let output = try? decoder.next() else { return nil }
            switch output {
            case .piece(let piece): whole += piece
            case .end: return whole
            case .needsInput:
                if rest.isEmpty { decoder.completeInput() }
                decoder.give(rest.prefix(max(1, count)))
                rest = rest.dropFirst(max(1, count))
            }
        }
        return whole.prefix(1 << 20)
    }

    /// Checks that a parser reads the same from the whole, from single bytes, and from pieces of another size.
    func checkPieces<Result: Equatable>(_ text: String, _ read: (_ size: Int) -> Result) {
        let whole = read(.max)
        for size in [1, 2 + text.utf8.count % 7] {
            check(read(size) == whole, "pieces of \(size) make a difference to \(text.debugDescription)")
        }
    }

    func check(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds { fatalError(message()) }
    }
}

/// Nested lists and dictionaries of any depth.
private struct Tree: Decodable {
    init(from decoder: any Decoder) throws {
        if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd { _ = try list.decode(Tree.self) }
        } else if let fields = try? decoder.container(keyedBy: Key.self) {
            for key in fields.allKeys { _ = try fields.decode(Tree.self, forKey: key) }
        } else {
            _ = try decoder.singleValueContainer().decode(String.self)
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
