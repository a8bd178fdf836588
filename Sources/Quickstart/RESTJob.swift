import WebServiceClient

/// The first job: calling the endpoints that Catalogue.swift declares.
struct RESTJob {
    let service: EmbeddedService

    func run() async throws {
        // A client is made from its service root and settings. Any number of tasks may use it at once.
        let catalogue = Catalogue(serviceRoot: service.url + "/shop") {
            $0.interceptors = [CallPrinter()]
        }

        // A declared endpoint is a method like any other.
        let categories = try await catalogue.categories()
        let product = try await catalogue.product(id: 17)
        let search = try await catalogue.products(Search(category: "Garden", limit: 3))

        // This endpoint has no method; the result type is inferred from the variable.
        let status: String = try await catalogue.dynamic.status()

        // The shop is busy at first: the retry policy calls again, and the caller doesn't notice.
        let stock = try await catalogue.stock(id: 17)

        // Endpoints outside the table can be called ad hoc, through the same chain.
        let cheapest = try await catalogue.http.get("/products/%%0%%", 3).timeout(.seconds(5)).value(Product.self)

        // The account needs Basic authentication. The provider's credentials are sent only to the service root's origin.
        let member = Catalogue(serviceRoot: service.url + "/shop") {
            $0.interceptors = [CallPrinter()]
            $0.authenticationProvider = BasicAuthenticationProvider(user: EmbeddedService.user, password: EmbeddedService.password)
        }
        let account = try await member.account()

        // Orders need Digest authentication. The first call is challenged and repeated; the later ones know the server's nonce.
        let buyer = Catalogue(serviceRoot: service.url + "/shop") {
            $0.interceptors = [CallPrinter()]
            $0.authenticationProvider = DigestAuthenticationProvider(user: EmbeddedService.user, password: EmbeddedService.password)
        }
        let order = try await buyer.order(Order(product: product.id, quantity: 2))
        let orders = try await buyer.orders()

        // A failed call throws a ServiceError with the call, the stage, the request and the response.
        let complaint = try await failure { try await catalogue.product(id: 9999) }

        print(
            """

              categories  \(categories.map(\.name).joined(separator: ", "))
              product     \(product.name), \(product.price), \(stock.pieces) in stock
              search      \(search.map(\.name).joined(separator: ", "))
              ad hoc      \(cheapest.name)
              status      \(status)
              account     \(account.name) has \(account.points) points
              orders      \(orders.count) so far; the new one has the number \(order.number.map(String.init) ?? "?")
              error       \(complaint.message)
                          decoded: \((complaint.errorBody as? ShopError)?.message ?? "nothing")
            """)
    }

    /// Returns the error of a call that must fail.
    private func failure(_ call: () async throws -> Product) async throws -> ServiceError {
        do {
            let product = try await call()
            throw QuickstartError("The shop should not have \(product.name).")
        } catch let error as ServiceError {
            return error
        }
    }
}
