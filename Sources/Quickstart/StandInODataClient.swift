import Foundation
import OData
import WebServiceClient

// Stands in for the module's own ODataClient until that has landed; it goes then.
class ODataClient: WebServiceClient, @unchecked Sendable {
    func fetch<E>(_ request: FetchRequest<E>) async throws -> [E] {
        var all: [E] = []
        for try await page in pages(matching: request) { all += page.entities }
        return all
    }

    func entities<E>(matching request: FetchRequest<E>) -> AsyncThrowingStream<E, any Error> {
        var iterator = pages(matching: request).makeAsyncIterator()
        var rest: [E] = []
        return AsyncThrowingStream {
            if rest.isEmpty { rest = try await iterator.next()?.entities ?? [] }
            return rest.isEmpty ? nil : rest.removeFirst()
        }
    }

    func pages<E>(matching request: FetchRequest<E>) -> AsyncThrowingStream<ODataPage<E>, any Error> {
        let root = configuration.serviceRoot + "/"
        var next: String? = try? request.relativeURL()
        return AsyncThrowingStream {
            guard let link = next, let url = URL(string: link, relativeTo: URL(string: root))?.absoluteURL else { return nil }
            let page = try await self.request(link: url).value(ODataPage<E>.self)
            next = page.nextLink
            return page
        }
    }
}
