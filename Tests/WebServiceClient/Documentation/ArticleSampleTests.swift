import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the articles on modifiers, errors, forms, retries, interceptors and verification.

private struct ShopError: Decodable, Sendable {
    let code: String
    let message: String
}

private struct Login: Encodable, Sendable {
    let user: String
    let remember: Bool
}

private struct Audited: EndpointAttribute {
    let by: String
}

private struct EnvelopeHandler: ErrorHandler {
    struct Envelope: Decodable { let error: ShopError? }

    func verdict(on outcome: CallOutcome) -> ErrorVerdict {
        guard case .response(let response) = outcome.result,
            let error = try? response.decode(Envelope.self).error
        else { return .default }
        return .fail(DecodedErrorBody(status: response.status, body: error))
    }
}

private struct Timing: Interceptor {
    let record: @Sendable (CallIdentity, Duration) -> Void

    func intercept(
        _ request: ServiceRequest, context: CallContext, next: NextInterceptor
    ) async throws -> TransportResponse {
        let clock = ContinuousClock()
        let start = clock.now
        defer { record(context.identity, clock.now - start) }
        return try await next(request, context)
    }
}

private struct Audit: Interceptor {
    let note: @Sendable (String) -> Void

    func intercept(
        _ request: ServiceRequest, context: CallContext, next: NextInterceptor
    ) async throws -> TransportResponse {
        let response = try await next(request, context)
        if let audited = context.attributes[Audited.self] {
            note("\(audited.by): \(context.identity) answered \(response.status)")
        }
        return response
    }
}

private final class SampleShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "product(id:)": .get("/products/%%id%%"),
            "wrapped(id:)": .get("/wrapped/%%id%%").errorHandler(EnvelopeHandler()),
            "logIn(_:)": .post("/session").serializer(FormSerializer()),
            "upload(_:)": .post("/photos").accepting(.created),
            "refund(id:)": .post("/refunds/%%id%%").withoutBody().attribute(Audited(by: "billing")),
            "issues(owner:name:filter:)": .get("/repos/%%owner%%/%%name%%/issues")
                .query(.argument(2))
                .header("X-GitHub-Api-Version", "2022-11-28")
                .timeout(.seconds(10))
                .retry(RetryPolicy(attempts: 3)),
            "tagged(tags:)": .get("/tagged").query("tag", .argument("tags")).arrays(.comma),
            "missing(id:team:)": .get("/missing/%%id%%").header("X-Team", "%%team%%").alsoAccepting(.notFound)
                .decoding(at: "data.items").bodyLimit(1_000_000).redirects(.sameOrigin).timeouts(ServiceTimeouts())
                .cacheIdentifier("missing/%%0%%"),
            "report()": .endpoint("REPORT", "/calendar").decoding(with: PlainTextSerializer()),
        ]
    }

    override class var defaults: EndpointDefaults {
        EndpointDefaults(errorHandler: .decoding(ShopError.self))
    }

    func product(id: Int) async throws -> String { try await call(id) }
    func wrapped(id: Int) async throws -> String { try await call(id) }
    func logIn(_ login: Login) async throws { try await call(login) }
    func upload(_ form: MultipartForm) async throws { try await call(form) }
    func refund(id: Int) async throws { try await call(id) }
}

@Suite struct ArticleSampleTests {
    private let stub = StubTransport()

    private func shop(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> SampleShop {
        SampleShop(serviceRoot: "https://shop.example.com/v1") {
            $0.transport = stub
            configure(&$0)
        }
    }

    @Test func `The table of the samples has no fault`() {
        #expect(SampleShop.verify().isEmpty, "\(SampleShop.verify())")
    }

    #if DEBUG
    // Optimized builds have no symbols of methods that aren't public. Some endpoints of the samples are only described.
    @Test func `The table of the samples has methods`() async throws {
        let described = ["issues(owner:name:filter:)", "tagged(tags:)", "missing(id:team:)", "report()"]
        try expectEndpointsMatchMethods(of: SampleShop.self, ignoring: described)
        try await expectCall(SampleShop.product(id:), on: shop())
    }
    #endif

    @Test func `A typed error body is the error's`() async throws {
        stub["product(id:)"] = .json(#"{"code":"soldOut","message":"No more tea."}"#, status: 409)
        let error = try await #require(throws: ServiceError.self) { _ = try await shop().product(id: 7) }
        #expect((error.errorBody as? ShopError)?.code == "soldOut")
        #expect(error.status == 409)
    }

    @Test func `An error handler refuses an error within a success`() async throws {
        stub["wrapped(id:)"] = .json(#"{"error":{"code":"soldOut","message":"No more tea."}}"#)
        let error = try await #require(throws: ServiceError.self) { _ = try await shop().wrapped(id: 7) }
        #expect(error.kind == .refused)
        #expect((error.errorBody as? ShopError)?.message == "No more tea.")
    }

    @Test func `A form has the properties as fields`() async throws {
        stub["logIn(_:)"] = .status(204)
        try await shop().logIn(Login(user: "ada", remember: true))
        let request = try #require(stub.requests(for: "logIn(_:)").first)
        #expect(request.request.body?.data == Data("user=ada&remember=true".utf8))
    }

    private struct Address: Encodable { var city = "Bern" }
    private struct Tags: Encodable { var tags = ["a", "b"] }
    private struct Home: Encodable { var address = Address() }
    private struct Note: Encodable { var note: String? }

    private static let rules: [(FieldReflection, String, String, String)] = [
        (FieldReflection(), "tags=a&tags=b", "address[city]=Bern", ""),
        (FieldReflection(arrays: .brackets), "tags[]=a&tags[]=b", "address[city]=Bern", ""),
        (FieldReflection(arrays: .comma), "tags=a,b", "address[city]=Bern", ""),
        (FieldReflection(nesting: .dots), "tags=a&tags=b", "address.city=Bern", ""),
        (FieldReflection(missing: .empty), "tags=a&tags=b", "address[city]=Bern", "note="),
    ]

    @Test(arguments: rules)
    func `The rules of forms are those of the article's table`(
        rules: FieldReflection, tags: String, address: String, note: String
    ) throws {
        func form(_ fields: some Encodable) throws -> String {
            let data = try FormSerializer(rules).encode(fields)
            return String(decoding: data, as: UTF8.self).replacing("%5B", with: "[").replacing("%5D", with: "]")
        }
        #expect(try form(Tags()) == tags)
        #expect(try form(Home()) == address)
        #expect(try form(Note()) == note)
    }

    @Test func `A multipart form has the parts`() async throws {
        stub["upload(_:)"] = .status(201)
        try await shop().upload(
            MultipartForm([
                .text("title", "Crème brûlée"),
                .data("thumbnail", Data([1, 2, 3]), fileName: "small.png", contentType: "image/png"),
            ]))
        let request = try #require(stub.requests(for: "upload(_:)").first)
        #expect(request.request.body?.contentType?.hasPrefix("multipart/form-data") == true)
    }

    @Test func `Interceptors see the call and its attributes`() async throws {
        let notes = Notes()
        stub["refund(id:)"] = .status(204)
        let shop = shop {
            $0.retry = RetryPolicy(attempts: 3)
            $0.timeouts.total = .seconds(30)
            $0.interceptors = [
                Timing { call, _ in notes.add("timed \(call.key)") },
                Audit { notes.add($0) },
                RequestPreparer { $0.headers["X-Request-ID"] = UUID().uuidString },
                ResponseProcessor { $0.headers["X-Seen"] = "1" },
            ]
        }
        try await shop.refund(id: 7)
        #expect(notes.all.count == 2)
        #expect(notes.all.first?.hasPrefix("billing: ") == true)
        #expect(notes.all.last == "timed refund(id:)")
    }

    @Test func `An interceptor is tested with a closure`() async throws {
        let url = try #require(URL(string: "https://shop.example.com"))
        let response = try await Audit { _ in }.intercept(ServiceRequest(method: .get, url: url), context: CallContext()) { request, _ in
            TransportResponse(status: 200, url: request.url)
        }
        #expect(response.status == 200)
    }

    @Test func `A dry run shows the request`() async throws {
        let request = try await shop().dryRun { _ = try await $0.product(id: 7) }
        #expect(request.url.absoluteString == "https://shop.example.com/v1/products/7")
    }
}

private final class Notes: Sendable {
    private let notes = Locked<[String]>([])
    var all: [String] { notes.withLock { $0 } }
    func add(_ note: String) { notes.withLock { $0.append(note) } }
}
