import Foundation
import OData
import WebServiceClient

/// One kind of call.
struct Workload: Sendable {
    let name: String
    let title: String
    /// The number of calls in a round.
    let repetitions: Int
    /// The number of bytes that a call reads, for its speed; `nil` if that isn't of interest.
    var bytes: Int?
    let run: @Sendable () async throws -> Void

    static let entitiesPerPage = 50_000

    static var all: [Workload] {
        let entity = StubTransport(body: StubBody.entity)
        let declared = DeclaredService(serviceRoot: "https://example.com/odata") { $0.transport = entity }
        let client = ODataClient(serviceRoot: "https://example.com/odata") { $0.transport = entity }
        let request = FetchRequest<Product>().key(7)
        let product = Product(id: 7, name: "Bread", price: 2.5, rating: 4, isDiscontinued: false, category: "Food")
        return [
            Workload(name: "declared", title: "declared call for one entity", repetitions: 1_000) {
                _ = try await declared.product(id: 7)
            },
            Workload(name: "fetch", title: "`fetch` of one entity", repetitions: 1_000) {
                _ = try await client.fetch(FetchRequest<Product>().key(7))
            },
            Workload(name: "replace", title: "`replace` of one entity", repetitions: 1_000) {
                _ = try await client.replace(request, with: product)
            },
            Workload(name: "page", title: "page of \(entitiesPerPage) entities", repetitions: 1) {
                _ = try ODataDecoder().decode(ODataPage<Product>.self, from: StubBody.goodPage)
            },
            Workload(name: "wrong-page", title: "the same with a wrong last entity", repetitions: 1) {
                do {
                    _ = try ODataDecoder().decode(ODataPage<Product>.self, from: StubBody.wrongPage)
                } catch is DecodingError {}
            },
            Workload(name: "wide-page", title: "page of \(WidePage.users) entities with 12 of 137 properties and relations", repetitions: 1)
            {
                _ = try ODataDecoder().decode(ODataPage<WideUser>.self, from: WidePage.small)
            },
            Workload(name: "wide-narrow", title: "the same as a type without the relations", repetitions: 1) {
                _ = try ODataDecoder().decode(ODataPage<NarrowUser>.self, from: WidePage.small)
            },
            Workload(name: "wide-metadata", title: "the same with relations and metadata", repetitions: 1) {
                _ = try ODataDecoder().decode(ODataPage<ODataEntity<WideUser>>.self, from: WidePage.small)
            },
            Workload(name: "wide-untyped", title: "the same without a type", repetitions: 1) {
                _ = try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: WidePage.small)
            },
            Workload(name: "full-page", title: "page of \(WidePage.users) entities with 49 of 137 properties and relations", repetitions: 1)
            {
                _ = try ODataDecoder().decode(ODataPage<WideUser>.self, from: WidePage.full)
            },
            Workload(name: "full-untyped", title: "the same without a type", repetitions: 1) {
                _ = try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: WidePage.full)
            },
        ] + BatchWorkloads.all
    }

    /// Returns the processor time of one call, in microseconds.
    func time() async throws -> Double {
        let start = ProcessorTime.process
        for _ in 0..<repetitions { try await run() }
        return Double(ProcessorTime.process - start) / 1_000 / Double(repetitions)
    }
}
