import WebServiceClient

/// The first job: calling the endpoints that Catalogue.swift declares.
struct RESTJob {
    let service: EmbeddedService

    func run() async throws {
        // A client is made of its service root and settings. It may be used from any number of tasks at once.
        let catalogue = Catalogue(serviceRoot: service.url + "/shop") {
            $0.interceptors = [CallPrinter()]
        }

        // A declared endpoint is a method like any other.
        let categories = try await catalogue.categories()
        let product = try await catalogue.product(id: 17)
        let search = try await catalogue.products(Search(category: "Garden", limit: 3))

        // This endpoint has no method; the result's type is the one that is asked for here.
        let status: String = try await catalogue.dynamic.status()

        // The shop is busy at first: the call's retry policy asks again, and the caller doesn't notice.
        let stock = try await catalogue.stock(id: 17)

        // What isn't in the table can be called ad hoc, through the same chain.
        let cheapest = try await catalogue.http.get("/products/%%0%%", 3).timeout(.seconds(5)).value(Product.self)

        // The account needs Basic authentication. The provider's credentials go to the service root's origin and nowhere else.
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

        // A call that fails throws a ServiceError, which knows the call, the stage, the request and the response.
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

    /// The error of a call that has to fail.
    private func failure(_ call: () async throws -> Product) async throws -> ServiceError {
        do {
            let product = try await call()
            throw QuickstartError("The shop should not have \(product.name).")
        } catch let error as ServiceError {
            return error
        }
    }
}
