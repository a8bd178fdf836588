import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Resolution of relative links (JSON Format 4.01, section 4.4; RFC 3986, section 5; WHATWG URL for illegal characters).
@Suite struct RelativeLinkTests {
    struct Node: Codable, Sendable {
        var Id: Int
        var One: ToOne<Leaf>
        var Many: ToMany<Leaf>
        var Photo: EdmStream
        var Part: Part?
        var Plain: [Part]?
        var Home: URL?
    }
    struct Part: Codable, Sendable {
        var One: ToOne<Leaf>
        var Many: ToMany<Leaf>
        var Deep: Deep?
    }
    struct Deep: Codable, Sendable { var One: ToOne<Leaf> }
    struct Leaf: Codable, Sendable { var Id: Int }

    private let stub = StubTransport()

    /// Returns the URL that is requested for a relation of the client's only entity.
    private func followed(
        _ payload: String, root: String = "https://h.example/svc/", path: String = "E(2)/Nav", version: ODataVersion = .v4,
        _ follow: (ODataClient, Node) async throws -> Void
    ) async throws -> String? {
        let client = stub.client(version, root: root)
        stub.fallback(.json(payload))
        let node = try await client.fetch(EntityRequest<Node>(resource: ResourcePath(path)))
        stub.fallback(.json(#"{"Id":1,"value":[]}"#))
        try await follow(client, node)
        return stub.requests.last?.request.url.absoluteString
    }

    static let cases: [(context: String?, link: String, url: String)] = [
        ("https://h.example/svc/$metadata#E", "E(1)/One", "https://h.example/svc/E(1)/One"),
        ("../$metadata#E", "E(1)/One", "https://h.example/svc/E(1)/One"),
        ("/svc/$metadata#E", "E(1)/One", "https://h.example/svc/E(1)/One"),
        ("../../svc2/$metadata", "E(1)", "https://h.example/svc2/E(1)"), ("//h.example/a/$metadata", "E(1)", "https://h.example/a/E(1)"),
        ("HTTPS://H.example/svc/$metadata", "E(1)", "https://H.example/svc/E(1)"), (nil, "One", "https://h.example/svc/E(2)/One"),
        (nil, "../E(1)/One", "https://h.example/svc/E(1)/One"), ("$metadata", "One", "https://h.example/svc/E(2)/One"),
        ("#E", "One", "https://h.example/svc/E(2)/One"), ("../$metadata#E", "/One", "https://h.example/One"),
        ("../$metadata#E", "?$skiptoken=2", "https://h.example/svc/$metadata?$skiptoken=2"),
        ("../$metadata#E", "./E(1)/../E(2)", "https://h.example/svc/E(2)"),
        ("../$metadata#E", "E('a:b')/One?$skiptoken=2", "https://h.example/svc/E('a:b')/One?$skiptoken=2"),
        ("../$metadata#E", "E(guid'1')/One", "https://h.example/svc/E(guid'1')/One"),
        ("../$metadata#E", "E(2026-01-01T10:00:00Z)/One", "https://h.example/svc/E(2026-01-01T10:00:00Z)/One"),
        ("../$metadata#E", "E('a%20b c')", "https://h.example/svc/E('a%20b%20c')"),
        ("../$metadata#E", "E('50%')?a=%zz&b=%2", "https://h.example/svc/E('50%25')?a=%25zz&b=%252"),
        ("../$metadata#E", "E('ü%C3%BC')", "https://h.example/svc/E('%C3%BC%C3%BC')"),
        ("../$metadata#E", #"E('a"<>^`{|}b')"#, "https://h.example/svc/E('a%22%3C%3E%5E%60%7B%7C%7Db')"),
        ("../$metadata#E", "E('a%2Fb')", "https://h.example/svc/E('a%2Fb')"),
        ("../$metadata#E", "HTTPS://h.example/x", "https://h.example/x"), ("../$metadata#E", " E(1) ", "https://h.example/svc/E(1)"),
        // The path of a proxy-internal context is used if the host is the same.
        ("http://h.example/svc/$metadata#E", "E(1)/One", "https://h.example/svc/E(1)/One"),
        ("http://h.example:8080/svc/$metadata#E", "E(1)/One", "https://h.example/svc/E(1)/One"),
        ("https://inside.example/$metadata#E", "One", "https://h.example/svc/E(2)/One"),
    ]

    @Test(arguments: cases, ["https://h.example/svc/", "https://h.example/svc"])
    func `links are relative to the context, and the context to the payload's URL`(
        which: (context: String?, link: String, url: String), root: String
    ) async throws {
        let (context, link, url) = which
        let quoted = String(decoding: try JSONEncoder().encode(link), as: UTF8.self)
        let members = [context.map { #""@odata.context":"\#($0)""# }, #""Id":1"#].compactMap(\.self).joined(separator: ",")
        let one = try await followed("{\(members),\"One@odata.navigationLink\":\(quoted)}", root: root) {
            _ = try await $0.entity(of: $1.One)
        }
        #expect(one == url)
        for name in ["navigationLink", "nextLink"] {
            let many = try await followed("{\(members),\"Many@odata.\(name)\":\(quoted)}", root: root) {
                for try await _ in $0.entities(of: $1.Many) {}
            }
            #expect(many == url)
        }
        let rest = try await followed("{\(members),\"Many\":[{\"Id\":5}],\"Many@odata.nextLink\":\(quoted)}", root: root) {
            for try await _ in $0.entities(of: $1.Many) {}
        }
        #expect(rest == url)
        let photo = try await followed("{\(members),\"Photo@odata.mediaReadLink\":\(quoted)}", root: root) { client, node in
            #expect(node.Photo.url(of: node.Photo.readLink)?.absoluteString == url)
        }
        _ = photo
    }

    @Test(arguments: cases) func `links of pages and entities are relative to the context`(
        context: String?, link: String, url: String
    ) async throws {
        let quoted = String(decoding: try JSONEncoder().encode(link), as: UTF8.self)
        let head = context.map { #""@odata.context":"\#($0)","# } ?? ""
        let client = stub.client()
        for streams in [true, false] {
            client.streamsPages = streams
            stub.fallback(.inTurn(.json("{\(head)\"value\":[{\"Id\":1}],\"@odata.nextLink\":\(quoted)}"), .json(#"{"value":[]}"#)))
            for try await _ in client.entities(matching: FetchRequest<Leaf>(from: "E(2)/Nav")) {}
            #expect(stub.requests.last?.request.url.absoluteString == url)
        }
        stub.fallback(.json("{\(head)\"value\":[{\"Id\":1}],\"@odata.nextLink\":\(quoted),\"@odata.deltaLink\":\(quoted)}"))
        let page = try await client.page(FetchRequest<Leaf>(from: "E(2)/Nav"))
        #expect(page.url(of: page.deltaLink)?.absoluteString == url && page.url(of: nil) == nil)
        stub.fallback(.json(#"{"value":[]}"#))
        _ = try await client.page(after: page, of: FetchRequest<Leaf>(from: "E(2)/Nav"))
        #expect(stub.requests.last?.request.url.absoluteString == url)
        let links = ["id", "editLink", "readLink", "mediaReadLink", "mediaEditLink"].map { "\"@odata.\($0)\":\(quoted)," }.joined()
        stub.fallback(.json("{\(head)\(links)\"Boss@odata.navigationLink\":\(quoted),\"#N.Act\":{\"target\":\(quoted)},\"Id\":1}"))
        let metadata = try await client.entity(EntityRequest<Leaf>(at: "E(2)/Nav")).metadata
        let media = try #require(metadata.media)
        for found in [
            metadata.id, metadata.editLink, metadata.readLink, media.readLink, media.editLink, metadata.navigationLinks["Boss"],
            metadata.operations.first?.target,
        ] {
            #expect(found == link && metadata.url(of: found)?.absoluteString == url)
        }
        #expect(media.url(of: media.readLink)?.absoluteString == url)
    }

    // MARK: Contexts inside

    /// Payloads with nested contexts, which are resolved against the outer context.
    static let nested: [(payload: String, one: String)] = [
        (
            #"{"@odata.context":"../$metadata#E","Id":1,"Part":{"@odata.context":"../other/$metadata#P","One@odata.navigationLink":"P(1)"}}"#,
            "other/P(1)"
        ),
        (##"{"@odata.context":"../$metadata#E","Id":1,"Part":{"@odata.context":"#P","One@odata.navigationLink":"P(1)"}}"##, "svc/P(1)"),
        (#"{"@odata.context":"../$metadata#E","Id":1,"Part":{"@context":"a/$metadata","One@navigationLink":"P(1)"}}"#, "svc/a/P(1)"),
        (#"{"@odata.context":"../$metadata#E","Id":1,"Part":{"One@odata.navigationLink":"P(1)"}}"#, "svc/P(1)"),
        (#"{"Id":1,"Part":{"@odata.context":"https://h.example/a/b/$metadata","One@odata.navigationLink":"P(1)"}}"#, "a/b/P(1)"),
        (#"{"Id":1,"Part":{"@odata.context":"../a/$metadata","One@odata.navigationLink":"P(1)"}}"#, "svc/a/P(1)"),
    ]

    @Test(arguments: nested) func `an inner context applies to its object`(payload: String, one: String) async throws {
        let url = try await followed(payload, path: "E(2)/Nav") { _ = try await $0.entity(of: #require($1.Part).One) }
        #expect(url == "https://h.example/" + one)
    }

    @Test func `an inner context applies in deep objects, lists and streamed pages`() async throws {
        let deep =
            #"{"@odata.context":"a/$metadata#E","Id":1,"One@odata.navigationLink":"1","#
            + #""Part":{"@odata.context":"b/$metadata","Deep":{"One@odata.navigationLink":"2"},"Many@odata.nextLink":"3"},"#
            + #""Plain":[{"One@odata.navigationLink":"4"},{"@odata.context":"c/$metadata","One@odata.navigationLink":"5","Many":[{"Id":1}]}]}"#
        let client = stub.client()
        stub.fallback(.json(deep))
        let whole = try await client.fetch(EntityRequest<Node>(at: "E(2)"))
        stub.fallback(.json(#"{"@odata.context":"x/$metadata#E","value":[\#(deep)]}"#))
        for (node, begin) in [
            (whole, "https://h.example/svc/a/"),
            (try await client.fetch(FetchRequest<Node>(from: "E")).first, "https://h.example/svc/x/a/"),
            (try await client.page(FetchRequest<Node>(from: "E")).entities.first, "https://h.example/svc/x/a/"),
            (try await client.fetch(FetchRequest<ODataEntity<Node>>(from: "E")).first?.value, "https://h.example/svc/x/a/"),
        ] {
            let node = try #require(node)
            let part = try #require(node.Part)
            let plain = try #require(node.Plain)
            #expect(node.One.link == begin + "1" && part.Deep?.One.link == begin + "b/2")
            #expect(part.Many.url(of: part.Many.nextLink)?.absoluteString == begin + "b/3")
            #expect(plain[0].One.link == begin + "4" && plain[1].One.link == begin + "c/5")
        }
        var nodes: [Node] = []
        for try await node in client.entities(matching: FetchRequest<Node>(from: "E")) { nodes.append(node) }
        #expect(nodes.first?.Part?.Deep?.One.link == "https://h.example/svc/x/a/b/2")
    }

    // MARK: Version 2, redirects, roots

    @Test func `links of version 2 are followed, relative ones from the payload's URL`() async throws {
        for (link, url) in [
            ("https://h.example/svc/E(1)/One", "https://h.example/svc/E(1)/One"), ("../E(1)/One", "https://h.example/svc/E(1)/One"),
            ("/svc/E('a%20b c')/One", "https://h.example/svc/E('a%20b%20c')/One"),
        ] {
            for name in ["One", "Many"] {
                let found = try await followed(#"{"d":{"Id":1,"\#(name)":{"__deferred":{"uri":"\#(link)"}}}}"#, version: .v2) {
                    if name == "One" { _ = try await $0.entity(of: $1.One) } else { for try await _ in $0.entities(of: $1.Many) {} }
                }
                #expect(found == url)
            }
            let rest = try await followed(#"{"d":{"Id":1,"Many":{"results":[],"__next":"\#(link)"}}}"#, version: .v2) {
                for try await _ in $0.entities(of: $1.Many) {}
            }
            #expect(rest == url)
            let client = stub.client(.v2)
            stub.fallback(.inTurn(.json(#"{"d":{"results":[{"Id":1}],"__next":"\#(link)"}}"#), .json(#"{"d":{"results":[]}}"#)))
            _ = try await client.fetch(FetchRequest<Leaf>(from: "E(2)/Nav"))
            #expect(stub.requests.last?.request.url.absoluteString == url)
            stub.fallback(.json(#"{"d":{"__metadata":{"uri":"\#(link)","media_src":"\#(link)"},"Id":1}}"#))
            let metadata = try await client.entity(EntityRequest<Leaf>(at: "E(2)/Nav")).metadata
            #expect(metadata.url(of: metadata.editLink)?.absoluteString == url)
            #expect(metadata.media?.url(of: metadata.media?.readLink)?.absoluteString == url)
        }
    }

    @Test(arguments: ["https://h.example/svc", "https://h.example/svc/", "https://h.example/svc/?sap-client=1"])
    func `links of version 2 that stay below the service's root are relative to it`(root: String) async throws {
        // Olingo writes them so, also for a relation's page.
        let client = stub.client(.v2, root: root)
        let relation = FetchRequest<Leaf>(from: "E(2)/Nav")
        var last: String? { stub.requests.last?.request.url.absoluteString }
        func page(_ members: String) -> StubAnswer { .json(#"{"d":{"results":[{"Id":1}]\#(members)}}"#) }
        for (link, url) in [
            ("E(2)/Nav?$skiptoken=2", "https://h.example/svc/E(2)/Nav?$skiptoken=2"), ("F?$skip=1", "https://h.example/svc/F?$skip=1"),
            ("?$skiptoken=2", "https://h.example/svc/E(2)/Nav?$skiptoken=2"), ("../F?$skip=1", "https://h.example/svc/F?$skip=1"),
        ] {
            for streams in [true, false] {
                client.streamsPages = streams
                stub.fallback(.inTurn(page(#","__next":"\#(link)""#), page("")))
                for try await _ in client.entities(matching: relation) {}
                #expect(last?.hasPrefix(url) == true, "\(last ?? "")")
            }
            stub.fallback(.inTurn(page(#","__next":"\#(link)""#), page("")))
            let first = try await client.page(relation)
            _ = try await client.page(after: first, of: relation)
            #expect(last?.hasPrefix(url) == true, "\(last ?? "")")
            stub.fallback(.inTurn(page(#","__next":"\#(link)""#), page(#","__delta":"E?!deltatoken='1'""#)))
            for try await _ in client.changes(of: relation) {}
            #expect(last?.hasPrefix(url) == true, "\(last ?? "")")
        }
        stub.fallback(.json(#"{"d":{"__metadata":{"uri":"E('a')","media_src":"E('a')/$value"},"Id":1}}"#))
        let metadata = try await client.entity(EntityRequest<Leaf>(at: "E(2)/Nav")).metadata
        _ = try await client.entity(at: metadata, as: Leaf.self)
        #expect(last?.hasPrefix("https://h.example/svc/E('a')") == true, "\(last ?? "")")
        let absolute = #"{"uri":"https://h.example/svc/E('a')","media_src":"E('a')/$value"}"#
        stub.fallback(.json(#"{"d":{"__metadata":\#(absolute),"Id":1}}"#))
        let other = try await client.entity(EntityRequest<Leaf>(at: "E(2)/Nav")).metadata
        #expect(other.url(of: other.media?.readLink)?.absoluteString == "https://h.example/svc/E('a')/$value")
        #expect(other.media.flatMap { $0.url(of: $0.readLink) }?.absoluteString == "https://h.example/svc/E('a')/$value")
        stub.fallback(.data(Data([1]), type: "image/png"))
        _ = try await client.content(of: StreamReference(mediaOf: metadata))
        #expect(last?.hasPrefix("https://h.example/svc/E('a')/$value") == true, "\(last ?? "")")
    }

    @Test func `links of relations that code created are relative to the service's root`() async throws {
        for root in ["https://h.example/svc", "https://h.example/svc/", "https://h.example/svc?sap-client=1"] {
            let client = stub.client(.v4, root: root)
            _ = try await client.entity(of: ToOne<Leaf>.notLoaded(link: "E(1)/One"))
            #expect(stub.requests.last?.request.url.absoluteString.hasPrefix("https://h.example/svc/E(1)/One") == true)
            stub.fallback(.json(#"{"value":[]}"#))
            for try await _ in client.entities(of: ToMany<Leaf>([], nextLink: "E(1)/Many?$skip=1")) {}
            #expect(stub.requests.last?.request.url.absoluteString.hasPrefix("https://h.example/svc/E(1)/Many?$skip=1") == true)
        }
    }

    @Test func `after a redirect, links are relative to its target`() async throws {
        let client = stub.client()
        stub.fallback(
            .answering { request in
                request.request.url.path().contains("/new/")
                    ? .json(#"{"Id":1,"One@odata.navigationLink":"One"}"#) : .redirect(to: "/new/E(1)")
            })
        #expect(try await client.fetch(EntityRequest<Node>(at: "E(1)")).One.link == "https://h.example/new/One")
    }

    @Test func `a 404 of a relation is nil in version 2, and an error in version 4`() async throws {
        let missing = StubAnswer.json(#"{"error":{"code":"x","message":"no such segment"}}"#, status: 404)
        stub.fallback(missing)
        let relation = ToOne<Leaf>.notLoaded(link: "E(1)/One")
        for version in [ODataVersion.v4, .v401] {
            let client = stub.client(version)
            stub.fallback(missing)
            let error = await #expect(throws: ServiceError.self) { try await client.entity(of: relation) }
            #expect(error?.status == 404)
        }
        let client = stub.client(.v2)
        stub.fallback(missing)
        #expect(try await client.entity(of: relation) == nil)
        stub.fallback(.data(Data("<html></html>".utf8), type: "text/html", status: 404))
        await #expect(throws: ServiceError.self) { try await client.entity(of: relation) }
        stub.fallback(.status(204))
        #expect(try await client.entity(of: relation) == nil)
    }

    // MARK: Heads and properties

    @Test(arguments: [
        ("E('a%20b c')", "https://h.example/svc/E('a%20b%20c')"), ("/x?q=a b%20c", "https://h.example/x?q=a%20b%20c"),
        ("HTTPS://h.example/E(1)", "https://h.example/E(1)"), ("E('a:b')", "https://h.example/svc/E('a:b')"),

        ("E(%C3%BC)", "https://h.example/svc/E(%C3%BC)"), ("E(1%)", "https://h.example/svc/E(1%25)"), ("../E(1)", "https://h.example/E(1)"),
        ("//h.example/E", "https://h.example/E"), ("E(1)#f", "https://h.example/svc/E(1)#f"),
    ])
    func `Location, OData-EntityId and edit links are encoded once`(link: String, url: String) async throws {
        let client = stub.client()
        let quoted = String(decoding: try JSONEncoder().encode(link), as: UTF8.self)
        for answer in [
            StubAnswer.status(204, headers: ["Location": link, "OData-EntityId": link]),
            .json("{\"@odata.context\":\"$metadata#E\",\"@odata.editLink\":\(quoted),\"@odata.id\":\(quoted),\"Id\":1}", status: 201),
        ] {
            stub.fallback(answer)
            let result = try await client.create(Leaf(Id: 1), in: FetchRequest<Leaf>(from: "E"))
            #expect(result.location?.absoluteString == url)
            #expect(result.entityID == (URLText.Components(link).scheme == nil ? url : link))
        }
    }

    @Test(arguments: [
        ("https://h/a%20b c", "https://h/a%20b%20c"), ("https://h/?q=%C3%BC&r=ü", "https://h/?q=%C3%BC&r=%C3%BC"),
        ("HTTP://h/a", "http://h/a"),
        ("a/b c", "a/b%20c"), ("https://h/50%", "https://h/50%25"), ("https://h/a|b{c}", "https://h/a%7Cb%7Bc%7D"),
        ("mailto:a@b", "mailto:a@b"),
        ("https://h/a[1]", "https://h/a%5B1%5D"), ("urn:uuid:1-2", "urn:uuid:1-2"), ("https://h/#a b%20", "https://h/#a%20b%20"),
        ("https://h/a%2Fb", "https://h/a%2Fb"),
    ])
    func `a property that is a URL is encoded once`(text: String, url: String) throws {
        let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let node = try ODataDecoder().decode(Node.self, from: Data("{\"Id\":1,\"Home\":\(quoted)}".utf8))
        #expect(node.Home?.absoluteString == url)
        #expect(try ODataDecoder().decode(URL.self, from: Data("{\"value\":\(quoted)}".utf8)).absoluteString == url)
        let page = try ODataDecoder().decode(ODataPage<Node>.self, from: Data("{\"value\":[{\"Id\":1,\"Home\":\(quoted)}]}".utf8))
        #expect(page.entities.first?.Home?.absoluteString == url)
    }

    @Test(arguments: ["", " ", "javascript:alert(1)", "Items:b", "ftp://h.example/", "https://", "http:", "https:///x", "mailto:a@b"])
    func `only http URLs are followed`(link: String) throws {
        let page = try #require(URL(string: "https://h.example/svc/E"))
        #expect(throws: ODataLinkError.self) { try NextLink.url(link, context: nil, page: page) }
    }
}
