import Foundation
import OData
import WebServiceClient

enum ModelProgram {
    static func read(_ client: GraphClient) async throws -> [String] {
        var lines: [String] = []
        for user in try await client.fetch(client.users.filter { $0.displayName != nil }.order(by: .ascending(\.displayName)).top(10)) {
            lines.append("\(user.id.value ?? "") \(user.displayName.value ?? "-") \(user.age.value.map { "\($0)" } ?? "-")")
            switch user.ageGroup.value {
            case .adult?: lines.append("adult")
            case let other?: lines.append("other \(other.name)")
            default: lines.append(user.ageGroup.isPresent ? "null" : "absent")
            }
            lines.append("rights \(user.rights.value?.description ?? "-") \(user.rights.value?.contains(.read) ?? false)")
            lines.append("city \(user.home.value?.city.value ?? "-")")
            lines.append("plans \((user.assignedPlans.value ?? []).map { $0.service.value ?? "-" })")
            lines.append("mails \(user.otherMails.value ?? [])")
            lines.append("extra \(user["extension_shoe"]?.integer ?? -1)")
            lines.append("etag \(user.metadata.etag ?? "-")")
            if let manager = user.manager.value {
                lines.append("manager \(manager.id.value ?? "") \(manager.as(Graph.User.self)?.displayName.value ?? "no user")")
            }
            for object in user.memberOf.elements ?? [] {
                lines.append("member of \(object.as(Graph.Group.self)?.displayName.value ?? "no group")")
            }
            lines.append("photo \(user.photo.contentType ?? "-")")
        }
        return lines
    }

    static func queries(_ client: GraphClient) -> [FetchRequest<Graph.User>] {
        [
            client.users.filter { $0.displayName == "Ada" && $0.home.city.hasPrefix("B") },
            client.users.filter { $0.manager.as(Graph.User.self).displayName == "Bob" },
            client.users.filter { $0.memberOf.any { $0.id == "7" } },
            client.users.filter { $0.ageGroup == .adult || $0.rights.has(.write) },
            client.users.filter { $0.assignedPlans.any { $0.service == "exchange" } && $0.otherMails.any { $0.hasSuffix(".org") } },
            client.users.filter { $0.manager == nil && $0.deletedDateTime == nil && $0["extension_shoe"] > 40 },
            client.users.select(\.displayName, \.id, \.home),
            client.users.expand(\.manager).expand(\.memberOf) { $0.select(\.id).top(3) },
            client.users.order(by: .descending(\.age), .ascending { $0.home.city }),
            client.directoryObjects.cast(to: Graph.User.self).filter { $0.age > 21 },
            client.me.navigate(\.memberOf).cast(to: Graph.User.self).top(1),
            client.users.apply { $0.group(by: \.ageGroup, into: Graph.User.self, .maximum(\.age, as: \.age)) },
        ]
    }

    static func write(_ client: GraphClient) async throws -> [String] {
        var lines: [String] = []
        var user = Graph.User()
        user.displayName = .value("Eve")
        user.set(\.age, to: 6)
        user.ageGroup = .value(.minor)
        user.rights = .value([.read, .write])
        var home = Graph.PostalAddress()
        home.city = .value("Bonn")
        home.postalCode = .value("53111")
        user.home = Presence(home.as(Graph.Address.self))
        user["extension_shoe"] = 41
        let created = try await client.create(
            user, in: client.users,
            binding: [EntityBinding(\Graph.UserModel.manager, to: EntityReference(Graph.User.key("7"), in: client.users))])
        lines.append("created \(created.entity?.id.value ?? "-")")

        var draft = EntityDraft(of: try await client.fetch(client.users.key(Graph.User.key("8"))))
        draft.age = .value(37)
        draft.displayName = .null
        draft.set(\.quota, to: 5_000_000_000)
        var address = draft.home.value ?? Graph.Address()
        address.city = .value("Köln")
        draft.home = .value(address)
        draft.bind(\.manager, to: EntityReference(Graph.DirectoryObject.key("9"), in: client.directoryObjects))
        draft.bind(\.memberOf, toAll: [EntityReference(Graph.DirectoryObject.key("10"), in: client.directoryObjects)])
        try await client.update(client.users.key("8"), with: draft)

        draft.createdDateTime = .null
        do {
            try await client.update(client.users.key("8"), with: draft)
        } catch let error as ServiceError {
            lines.append((error.cause as? ODataWriteError)?.description ?? "\(error)")
        }
        let found: Graph.User = try await client.invoke(
            ResourcePath(entitySet: "users").action("microsoft.graph.merge"), ["with": draft.value, "ageGroup": Graph.AgeGroup.adult])
        lines.append("merged \(found.displayName.value ?? "-")")
        return lines
    }

    static func orders(_ client: NorthwindClient) async throws -> [String] {
        var lines: [String] = []
        let request = client.orders.filter { $0.orderDate > EdmDateTimeOffset("1996-07-04T00:00:00") }.expand(\.order_Details)
        for order in try await client.fetch(request) {
            let details = order.order_Details.elements ?? []
            let date = order.orderDate.value?.description ?? "-"
            lines.append("\(order.orderID.value ?? 0) \(date) \(order.freight.value?.description ?? "-")")
            lines.append("\(order.total.value ?? 0) \(order.shipTime.value?.description ?? "-") \(order.weight.value ?? 0)")
            lines.append("\(details.map { $0.quantity.value ?? 0 }) \(order.order_Details.nextLink ?? "-")")
            guard let first = details.first, let key = Northwind.Order_Detail.key(of: first) else { continue }
            lines.append(client.order_Details.key(key).resource.segments.count == 2 ? "keyed" : "-")
            lines.append(first.order.link ?? "-")
        }
        var order = Northwind.Order()
        order.set(\.orderID, to: 11_078)
        order.set(\.orderDate, to: EdmDateTimeOffset("2026-11-27T00:00:00"))
        order.set(\.freight, to: EdmDecimal("12.50"))
        order.set(\.total, to: 7)
        order.set(\.weight, to: 1.5)
        order.set(\.shipTime, to: EdmTimeOfDay(hour: 13, minute: 20))
        try await client.create(order, in: client.orders)
        return lines
    }
}
