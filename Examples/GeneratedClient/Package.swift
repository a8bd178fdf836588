// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "generated-client",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "web-service-client", path: "../..")],
    targets: [
        .executableTarget(
            name: "Bakery",
            dependencies: [
                .product(name: "OData", package: "web-service-client"),
                .product(name: "WebServiceTesting", package: "web-service-client"),
            ],
            plugins: [.plugin(name: "ODataGeneratorPlugin", package: "web-service-client")])
    ]
)
